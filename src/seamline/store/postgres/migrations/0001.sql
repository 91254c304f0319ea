-- Schema 1. Everything is in the schema `seamline`; several workspaces and knowledge bases share the tables.
CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS unaccent;

-- Search configurations. French is customarily typed without accents, so it is folded before it is stemmed.
CREATE TEXT SEARCH CONFIGURATION seamline.french_unaccent (COPY = pg_catalog.french);
ALTER TEXT SEARCH CONFIGURATION seamline.french_unaccent
    ALTER MAPPING FOR hword, hword_part, word WITH unaccent, french_stem;
CREATE TEXT SEARCH CONFIGURATION seamline.spanish_unaccent (COPY = pg_catalog.spanish);
ALTER TEXT SEARCH CONFIGURATION seamline.spanish_unaccent
    ALTER MAPPING FOR hword, hword_part, word WITH unaccent, spanish_stem;
CREATE TEXT SEARCH CONFIGURATION seamline.italian_unaccent (COPY = pg_catalog.italian);
ALTER TEXT SEARCH CONFIGURATION seamline.italian_unaccent
    ALTER MAPPING FOR hword, hword_part, word WITH unaccent, italian_stem;
CREATE TEXT SEARCH CONFIGURATION seamline.portuguese_unaccent (COPY = pg_catalog.portuguese);
ALTER TEXT SEARCH CONFIGURATION seamline.portuguese_unaccent
    ALTER MAPPING FOR hword, hword_part, word WITH unaccent, portuguese_stem;

CREATE FUNCTION seamline.config_of(language text) RETURNS regconfig LANGUAGE sql STABLE AS $$
    SELECT CASE lower(split_part(coalesce(language, ''), '-', 1))
        WHEN 'ar' THEN 'pg_catalog.arabic' WHEN 'ca' THEN 'pg_catalog.catalan' WHEN 'da' THEN 'pg_catalog.danish'
        WHEN 'de' THEN 'pg_catalog.german' WHEN 'el' THEN 'pg_catalog.greek' WHEN 'en' THEN 'pg_catalog.english'
        WHEN 'es' THEN 'seamline.spanish_unaccent' WHEN 'fi' THEN 'pg_catalog.finnish'
        WHEN 'fr' THEN 'seamline.french_unaccent' WHEN 'hu' THEN 'pg_catalog.hungarian'
        WHEN 'it' THEN 'seamline.italian_unaccent' WHEN 'nl' THEN 'pg_catalog.dutch'
        WHEN 'no' THEN 'pg_catalog.norwegian' WHEN 'pt' THEN 'seamline.portuguese_unaccent'
        WHEN 'ro' THEN 'pg_catalog.romanian' WHEN 'ru' THEN 'pg_catalog.russian'
        WHEN 'sv' THEN 'pg_catalog.swedish' WHEN 'tr' THEN 'pg_catalog.turkish' ELSE 'pg_catalog.simple'
    END::regconfig
$$;

-- Ids and names compare as Python compares them: by code point.
CREATE TABLE seamline.kbs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    generation bigint NOT NULL DEFAULT 0,
    binding text,
    -- Corpus statistics of the keyword leg, kept by the triggers below whoever writes.
    chunk_count bigint NOT NULL DEFAULT 0,
    term_count bigint NOT NULL DEFAULT 0,
    UNIQUE (workspace, name)
);
CREATE TABLE seamline.states (
    kb bigint NOT NULL REFERENCES seamline.kbs ON DELETE CASCADE,
    source text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    payload text NOT NULL,
    PRIMARY KEY (kb, source, document_id)
);
CREATE TABLE seamline.documents (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kb bigint NOT NULL REFERENCES seamline.kbs ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    language text,
    readable_by text[],
    payload text NOT NULL,
    UNIQUE (kb, id)
);
-- Values as the engine compares them: `n:` a number, `s:` a string. Truth values are the numbers 0 and 1.
CREATE TABLE seamline.metadata (
    document bigint NOT NULL REFERENCES seamline.documents ON DELETE CASCADE,
    kb bigint NOT NULL,
    key bytea NOT NULL,
    value bytea NOT NULL,
    PRIMARY KEY (document, key)
);
CREATE INDEX metadata_by_value ON seamline.metadata (kb, key, value);
CREATE TABLE seamline.chunks (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kb bigint NOT NULL REFERENCES seamline.kbs ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    document bigint NOT NULL REFERENCES seamline.documents ON DELETE CASCADE,
    language text,
    length integer NOT NULL,
    text_sha256 text NOT NULL,
    payload text NOT NULL,
    search_text text NOT NULL,
    search_config regconfig NOT NULL DEFAULT 'pg_catalog.simple',
    search_vector tsvector GENERATED ALWAYS AS (to_tsvector(search_config, search_text)) STORED,
    UNIQUE (kb, id)
);
CREATE INDEX chunks_by_document ON seamline.chunks (document);
CREATE INDEX chunks_by_text ON seamline.chunks (kb, text_sha256);
CREATE INDEX chunks_by_word ON seamline.chunks USING gin (search_vector);
CREATE TABLE seamline.postings (
    kb bigint NOT NULL,
    term bytea NOT NULL,
    chunk bigint NOT NULL REFERENCES seamline.chunks ON DELETE CASCADE,
    frequency integer NOT NULL,
    PRIMARY KEY (kb, term, chunk) INCLUDE (frequency)
);
CREATE INDEX postings_by_chunk ON seamline.postings (chunk);
CREATE TABLE seamline.vectors (
    kb bigint NOT NULL,
    chunk bigint NOT NULL REFERENCES seamline.chunks ON DELETE CASCADE,
    name text NOT NULL,
    half halfvec,
    single vector,
    PRIMARY KEY (chunk, name),
    CHECK ((half IS NULL) <> (single IS NULL))
);
CREATE INDEX vectors_by_kb ON seamline.vectors (kb, name);

-- A chunk's search configuration follows its document's language, whoever writes.
CREATE FUNCTION seamline.set_config() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.search_config := (SELECT seamline.config_of(d.language) FROM seamline.documents d WHERE d.number = NEW.document);
    RETURN NEW;
END $$;
CREATE TRIGGER chunk_config BEFORE INSERT OR UPDATE OF document ON seamline.chunks
    FOR EACH ROW EXECUTE FUNCTION seamline.set_config();
CREATE FUNCTION seamline.follow_language() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE seamline.chunks SET search_config = seamline.config_of(NEW.language) WHERE document = NEW.number;
    RETURN NULL;
END $$;
CREATE TRIGGER document_language AFTER UPDATE OF language ON seamline.documents
    FOR EACH ROW WHEN (OLD.language IS DISTINCT FROM NEW.language) EXECUTE FUNCTION seamline.follow_language();

CREATE FUNCTION seamline.count_chunks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE sign integer := CASE WHEN TG_OP = 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    UPDATE seamline.kbs SET chunk_count = chunk_count + sign * c.chunks, term_count = term_count + sign * c.terms
    FROM (SELECT kb, count(*) AS chunks, sum(length) AS terms FROM changed GROUP BY kb) c WHERE kbs.id = c.kb;
    RETURN NULL;
END $$;
CREATE TRIGGER chunks_added AFTER INSERT ON seamline.chunks REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION seamline.count_chunks();
CREATE TRIGGER chunks_removed AFTER DELETE ON seamline.chunks REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION seamline.count_chunks();

-- The second wall between workspaces. Sessions run as `seamline_app`, which no policy exempts, and see the
-- workspace that the session names; without a name they see nothing.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'seamline_app') THEN
        CREATE ROLE seamline_app NOLOGIN;
    END IF;
    EXECUTE format('GRANT seamline_app TO %I', current_user);
END $$;
GRANT USAGE ON SCHEMA seamline TO seamline_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA seamline TO seamline_app;
ALTER TABLE seamline.kbs ENABLE ROW LEVEL SECURITY;
CREATE POLICY workspace ON seamline.kbs TO seamline_app
    USING (workspace = current_setting('seamline.workspace', true));
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['states', 'documents', 'metadata', 'chunks', 'postings', 'vectors'] LOOP
        EXECUTE format('ALTER TABLE seamline.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY workspace ON seamline.%I TO seamline_app USING (kb IN (SELECT id FROM seamline.kbs))', name);
    END LOOP;
END $$;
