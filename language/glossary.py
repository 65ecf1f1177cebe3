"""Translates the words in which people ask a catalogue into English, so that one set of rules reads them; pure.

Names and words of a topic stay as they are, because the rules look only for titles, numbers and words such as "lesson".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from antiphon.language.words import fold

_MOST_WORDS = 4
_WORD = re.compile(r"\w+")
_LANGUAGES = ("de", "fr", "es", "it", "pt", "nl")
# A row for each meaning, a column for each language; "+" joins the words of a phrase. Words are written as
# `language.words.fold` writes them.
_ROWS = """
who | wer | qui | quien quienes | chi | quem | wie
teaches | unterrichtet lehrt gibt halt | enseigne donne | ensena imparte da | insegna | ensina da | doceert geeft
teacher | dozent lehrer | professeur enseignant | profesor profesora | insegnante docente | professor | docent
how many | wieviele wie+viele | combien+de | cuantos cuantas | quanti quante | quantos quantas | hoeveel
there are | gibt+es | y+a y+a+t+il | hay | ci+sono | ha existem | zijn+er
has | hat haben | compte comporte | tiene tienen | ha hanno | tem tens | heeft hebben
courses | kurse kursen | cours les+cours des+cours | cursos | corsi | cursos | cursussen
course | kurs kurses | | curso | corso | curso | cursus
the course | | le+cours ce+cours | | | |
of the course | des+kurses zum+kurs vom+kurs im+kurs | du+cours au+cours | | | |
a course | | un+cours | | | |
a | ein eine einen | un une | un una | un una uno | um uma | een
which | welchen welches | quels lesquelles | cuales | quali | quais |
which course | | quel+cours | | | |
which courses | | quels+cours | | | |
lessons | lektionen | lecons | lecciones clases | lezioni | licoes aulas | lessen
lesson | lektion | lecon | leccion clase | lezione | licao aula | les
called | heisst heissen | appelle appellent | llama llaman | chiama chiamano | chama chamam | heet heten
called | lautet lauten | s+appelle s+intitule | se+llama se+titula | si+chiama si+chiamano | se+chama se+chamam |
teacher | dozentin kursleiter | prof enseignante | docente | | |
title | titel | titre | titulo | titolo | titulo | titel
link | link | lien | enlace | collegamento | ligacao |
give me | gib+mir zeig+mir | donne+moi montre+moi | dame dime | dammi dimmi | da+me diga+me | geef+me
first | erste ersten erster | premiere premier | primera primer | prima primo | primeira primeiro | eerste
second | zweite zweiten | deuxieme seconde | segunda segundo | seconda secondo | segunda segundo | tweede
third | dritte dritten | troisieme | tercera tercer | terza terzo | terceira terceiro | derde
fourth | vierte vierten | quatrieme | cuarta cuarto | quarta quarto | quarta quarto | vierde
fifth | funfte funften | cinquieme | quinta quinto | quinta quinto | quinta quinto | vijfde
shortest | kurzeste kurzester | plus+court | mas+corto | piu+corto | mais+curto | kortste
longest | langste langster | plus+long | mas+largo | piu+lungo | mais+longo | langste
address | adresse | adresse | direccion | indirizzo | endereco | adres
about the | | | | sul sulla sui | |
last | letzte letzten letzter | derniere dernier | ultima ultimo | ultima ultimo | ultima ultimo | laatste
next | nachste nachsten | prochaine suivante | siguiente proxima | prossima successiva | proxima seguinte | volgende
previous | vorige vorherige | precedente | anterior | precedente | anterior | vorige
the one on | | celle+sur celui+sur celle+des celui+des | | | |
right after | | juste+apres | justo+despues+de | | logo+depois+de | vlak+na
after | nach | apres | despues+de | dopo | depois+de depois+da | na
before | vor | avant | antes+de | prima+di prima+della | antes+de antes+da | voor
comes | kommt | vient | viene | viene | vem | komt
which | welche welcher | quel quelle quelles | que cual | quale quali che | qual que | welke
what | was | que quoi | | cosa | o+que | wat
how | wie | comment | como | come | como | hoe
are | sind | sont | son | sono | sao | zijn
offer | bietet | proposez+vous | ofrecen | offrite | oferecem |
is | ist | est | es | e | e | is
and | und | et | y | e | e | en
the | der die das den dem | le la les l | el la los las | il lo la i gli le | o a os as | de het
of | von des | de d des | de | di | de | van
of the | vom zum zur | du | del | del della dello dei | do da dos das | van+de van+het
in | in im | dans | en | nel nella | em no na | in
there | da | | | | |
about | uber worum+geht+es+in worum+geht+es | sur parle traite | sobre trata | tratta parla | sobre trata | over gaat
summarize | fasse fass | resume resumez | resume resumen | riassumi riassunto | resuma resumo | vat
topics | themen | sujets themes | temas | argomenti temi | temas topicos | onderwerpen
how long | wie+lange | combien+de+temps | cuanto+dura cuanto+tiempo | quanto+dura | quanto+dura quanto+tempo | hoe+lang
covers | behandelt erklart | traite explique | explica | spiega | explica | behandelt
belong to | gehoren gehort | appartiennent | pertenecen | appartengono | pertencem | horen+bij
where can i find | wo+finde+ich | ou+trouver | donde+encuentro | dove+trovo | onde+encontro | waar+vind+ik
it | er ihn | il elle | | | |
please | bitte zusammen | s+il+vous+plait | por+favor | per+favore | por+favor | alsjeblieft
is it | | c+est | | | |
name | name namens | nom | nombre | nome | nome | naam
teachers | dozenten lehrer | professeurs enseignants | profesores | insegnanti docenti | professores | docenten
penultimate | vorletzte vorletzten | avant+derniere | penultima | penultima | penultima | voorlaatste
follows | folgt+auf folgt | suit | sigue sigue+a | segue | segue | volgt+op volgt
begins | beginnt startet | commence debute | empieza comienza | inizia comincia | comeca | begint
ends | endet schliesst | finit termine | termina acaba | finisce termina | termina | eindigt
list | liste nenne nenne+mir | liste enumere | lista enumera | elenca | liste enumere | noem lijst
outline | gliederung inhaltsverzeichnis | plan sommaire programme | temario indice programa | indice | indice | inhoud
by | durch | par | por | | por | door
you have | haben+sie habt+ihr | avez+vous vous+avez | teneis tienes | avete | voces+tem | hebben+jullie
number of | anzahl+der | nombre+de | numero+de | numero+di | numero+de | aantal
all | alle | tous toutes | todos todas | tutti tutte | todos todas | alle
"""


# Subjects of courses whose names are not cognates of the English ones.
_SUBJECT_ROWS = """
database | datenbank | base+de+donnees | base+de+datos | base+di+dati | banco+de+dados | databank
databases | datenbanken | bases+de+donnees | bases+de+datos | basi+di+dati | bancos+de+dados | databanken
reliability | zuverlassigkeit | fiabilite | fiabilidad | affidabilita | confiabilidade | betrouwbaarheid
"""


def _glossaries(rows: str) -> dict[str, dict[str, str]]:
    """Returns each language's words and phrases with their English."""
    glossaries: dict[str, dict[str, str]] = {language: {} for language in _LANGUAGES}
    for row in rows.strip().splitlines():
        english, *columns = row.split("|")
        for language, column in zip(_LANGUAGES, columns, strict=True):
            for phrase in column.split():
                glossaries[language][phrase.replace("+", " ")] = english.strip()
    return glossaries


WORDS_FOR_CATALOGUE = _glossaries(_ROWS)
SUBJECTS = _glossaries(_SUBJECT_ROWS)


def in_english(question: str, glossary: Mapping[str, str]) -> str:
    """Translates each word and phrase of a glossary in the question into English; the longest phrase first."""
    found = list(_WORD.finditer(question))
    folded = [fold(word[0]) for word in found]
    translated = ""
    end = 0
    at = 0
    while at < len(found):
        length = _phrase_length(folded[at : at + _MOST_WORDS], glossary)
        english = glossary.get(" ".join(folded[at : at + length]))
        if english is not None:
            translated += question[end : found[at].start()] + english
            end = found[at + length - 1].end()
        at += length
    return translated + question[end:]


def _phrase_length(following: list[str], glossary: Mapping[str, str]) -> int:
    """Returns the number of leading words that make a phrase of the glossary; 1 if there is no phrase."""
    for length in range(len(following), 1, -1):
        if " ".join(following[:length]) in glossary:
            return length
    return 1
