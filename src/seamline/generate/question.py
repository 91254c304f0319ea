"""The words of a question and of a sentence, in the rough form that term evidence compares them in."""

from __future__ import annotations

import re

from seamline.folding import fold

# Vowel signs and diacritics belong to the word that they stand in, and are no word characters to ``re``.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff\u200c\u200d"
_WORD = re.compile(rf"[\w{_MARKS}]+")
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")
"""A run of a script that puts no spaces between words."""
_UNSPACED_ASKING = re.compile(
    r"多少|什么|什麼|哪里|哪裡|哪儿|哪个|哪個|哪些|为什么|為什麼|怎么|怎麼|怎样|如何|几个|幾個|是谁|是誰|谁|誰"
    r"|何ですか|でしょうか|ですか|ますか|ましたか|なぜ|どこ|いつ|だれ|どの|いくつ|何|อะไร|ที่ไหน|เมื่อไร|อย่างไร|กี่|ใคร"
)
_IDENTIFIER = re.compile(r"(?=[\w-]*\d)\w+(?:-\w+)*")
_STEM = 6
_FUNCTION_WORD_LIST = """
    a about after all also an and any are as at be because been before being between both but by can cannot could did
    do does during each every for from get gets go goes going got had has have he her here him his how i if in into is
    it its just know like long made make many may me mean means might more most mostly much must my name need no nor
    not now of off often on only or other our out over own same shall she should so some somebody someone something
    such take tell than that the their them then there these they thing things this those through to too under up us
    very want wants was we were what when where which while who whom whose why will with without would yet you your
    aber als am an auch auf aus bei daß das dass dem den der des die dies diese dieser dieses doch dort du durch ein
    eine einem einen einer er es euch für gibt haben hat hier ich ihm ihn ihr ihre im in ist kann können man mehr mein
    mit nach nicht noch nur ob oder sehr sein seine sich sie sind so um und uns unser unter viel vom von vor wann war
    warum was welche welchem welcher welches wenn wer werden wie wir wird wo wurde zu zum zur
    à au aux avec avoir c ce cela ces cet cette ci combien comment comme d dans de depuis des donc droit du elle elles
    en encore entre es est et être eu fait faire faut il ils j je l la le les leur leurs lors lorsque lui m ma mais me
    même mes moi mon n ne ni nos notre nous on ont ou où par pas peut peuvent plus pour pourquoi puis qu quand que quel
    quelle quelles quels qui quoi s sa sans se sera ses si son sont sous sur t te ton tous tout toute toutes très tu un
    une va vers vos votre vous y
    al algo ante aquí como cómo con contra cual cuál cuales cuando cuándo cuántos de del desde donde dónde durante e el
    ella ellos en era ese eso esta está este esto fue ha hay hasta he la las lo los más mi muy no nos o otro para pero
    poco por porque qué quien quién sin sobre son su sus también tan tiene todo un una uno ya yo
"""
_FUNCTION_WORDS = frozenset(_FUNCTION_WORD_LIST.split())


def question_stems(question: str) -> set[str]:
    """The question's content words; all its words when none is a content word."""
    words = [match[0] for match in _WORD.finditer(_UNSPACED_ASKING.sub(" ", question))]
    content = [word for word in words if fold(word) not in _FUNCTION_WORDS] or words
    return stems(" ".join(content))


def stems(text: str) -> set[str]:
    """Folded words cut to their first letters; pairs of characters where a script has no spaces."""
    folded = fold(text)
    pairs = {run[0][at : at + 2] for run in UNSPACED.finditer(folded) for at in range(len(run[0]) - 1)}
    return pairs | {word[0][:_STEM] for word in _WORD.finditer(UNSPACED.sub(" ", folded))}


def identifiers(text: str) -> set[str]:
    """Folded words that hold a digit, hyphens included: part numbers, codes, years, amounts."""
    return {fold(match[0]) for match in _IDENTIFIER.finditer(UNSPACED.sub(" ", text))}
