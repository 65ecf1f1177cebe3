"""Questions and remarks as people word them, by what they want; names stand as "the course" and "the lesson".

Questions that want something else than a catalogue holds are here too: they keep what is like them from being taken.
"""

from __future__ import annotations

from antiphon.language.asking import Ask
from antiphon.language.small_talk import SmallTalk

ASKING: dict[Ask | None, str] = {
    "courses": """
        Which courses are there?
        List everything that I can study here.
        How many courses do you have?
        Could you give me an overview of all the courses you have got?
        What is the number of courses in total?
        What else is in your collection?
        What do you teach here?
        I am new here. What is on offer?
        So what can one study with you?
        I would like to see the complete range of courses, please.
        show me the whole catalogue
        Please draw up a list of the available courses for my colleagues.
    """,
    "lessons": """
        How many lessons does the course have?
        number of lessons in the course
        Of how many parts is the course made up?
        How many lectures must I sit through if I take the course?
        Count the lessons of the course for me, including the introduction.
    """,
    "contents": """
        List the lessons of the course.
        What is the table of contents of the course?
        Show me the syllabus of the course.
        Which lessons belong to the course?
        What is on the curriculum of the course, step by step?
        How is the course structured?
        Give me the titles of all the lessons of the course in their order.
        what topics does the course go through
    """,
    "teacher": """
        Who teaches the course?
        Who is the instructor of the course?
        Who is responsible for the course?
        Whose course is it?
        Who is giving the lectures in the course?
        I need the name of the person behind the course for my report.
        by whom is the course held
    """,
    "link": """
        What is the link to the course?
        Give me the URL of the lesson.
        Where can I find the course online?
        I need the web address of the lesson so that I can send it to my students.
        Could you let me have the address at which the course can be reached?
        where do I click to open the lesson
    """,
    "duration": """
        How long does the course take?
        How many hours does each lesson last?
        how many minutes long is the lesson
    """,
    "links": """
        Give me the links of all the lessons of the course.
        Does each lesson of the course have a link?
        Which lessons of the course have no link?
    """,
    "title": """
        What is the lesson called?
        What is the title of the lesson?
        What name does the lesson have?
        Under which heading does the lesson appear?
    """,
    "overview": """
        What is the lesson about?
        Summarize the lesson.
        Give me a short summary of the lesson.
        What will I learn in the lesson?
        What are the main points of the lesson?
        I could not attend the lesson, what was covered?
        tl;dr of the lesson
        What should students remember after the lesson?
        Recap the lesson for my notes.
        Run me through the lesson quickly.
        Which key ideas from the lesson should I put on a poster?
        I was away for the lesson. Fill me in.
        Walk me through what was said in the lesson.
        Walk me through the lesson.
        key takeaways of the lesson
    """,
    None: """
        Which lesson explains it?
        Which lesson should I watch to understand how this works?
        Where do you teach how to do this?
        Which course covers this subject?
        I want to learn how to do this. Which course do I need?
        Where in the courses is that discussed?
        Is there a lesson on this?
        How much does the course cost?
        When does the course start?
        Do I get a certificate at the end of the course?
        What are the prerequisites of the course?
        Which company is the course built with?
        Which course is the most popular?
        How many students have enrolled in the course?
        Which homework is set in the lesson?
        Are there exercises or a quiz in the lesson?
        What is the e-mail address of the teacher?
        How old is the teacher, and where did she study?
        In which year was the course recorded?
        Which textbook does the course require?
        How difficult is the course?
        What does the lesson say about errors?
        Which example does the teacher give in the lesson?
        Which numbers are mentioned in the lesson?
        According to the course, why does this fail?
        What does the teacher recommend in the course when it becomes slow?
        In the lesson, what is the difference between the two methods?
        Which tool is used in the lesson?
        Who invented the method that the lesson describes?
        How does the lesson define the word?
        What happens in the lesson's example when the value is too large?
        What is the advice of the course on choosing the size?
        Which three properties must every one have, according to the lesson?
        How do I set the limit in the course's example?
        Does the teacher think that this is a good idea?
        What is compared with what in the lesson?
        Which other course uses it?
    """,
}
BESIDE: dict[str | None, str] = {
    "place": """
        To which course does the lesson belong, and what number does it carry?
        The lesson is part of what?
        the lesson: which course, which number, whose?
        Which course is the lesson in?
        Where do I find the lesson?
        In which course is there a lesson called the lesson?
    """,
    "after": """
        Which lesson comes after the lesson?
        I am done with the lesson, what now?
        I have finished the lesson. What should I watch next?
        the lesson, and then?
        What follows once the lesson is over?
        What follows the lesson?
        Where do I go on after the lesson?
    """,
    "before": """
        Which lesson comes right before the lesson?
        What do I have to watch before the lesson?
        Which lesson leads up to the lesson?
        I started directly at the lesson. What did I miss before it?
        What precedes the lesson?
    """,
    None: """
        What is the lesson about?
        What happens then in the lesson?
        What should I know before I start the lesson?
        What do they do next in the lesson?
        Why is the lesson important now?
        How is the lesson done?
        What did I miss in the lesson?
        Summarize the lesson, I missed it.
        How does the lesson work, step by step?
        How long does the lesson take?
        What is the difference between before and after the lesson?
        Who teaches the lesson?
    """,
}
TALKING: dict[SmallTalk | None, str] = {
    "hello": """
        Hello there, nice to meet you!
        Hi, is anybody there?
        Good evening, I hope I am not disturbing you.
    """,
    "thanks": """
        Thank you so much for your help!
        Thanks a million, you saved my day.
        That was exactly what I needed, brilliant!
        Great job, much appreciated.
        Very kind of you.
        lol, nice one
        Cheers, you are the best!
        Thank you in advance for your time and trouble.
    """,
    "bye": """
        Goodbye, see you tomorrow!
        I have to go now, talk to you later.
        That's all for today, take care!
        Have a nice weekend!
    """,
    "well": """
        How are you today?
        How is it going?
        Are you having a good day?
        How have you been?
        Everything all right with you?
    """,
    "who": """
        Who are you?
        Are you a machine or a person?
        What should I call you?
        What kind of assistant are you?
        Could you tell me something about yourself?
    """,
    "abilities": """
        What can you do for me?
        What can I ask you?
        How can you help me?
        What sort of questions do you answer?
        I don't know how to use this, what is it for?
        Which languages do you speak?
        With which kinds of problems can I come to you?
    """,
    None: """
        How does it work?
        What is the difference between the two?
        Why is that so slow?
        Who invented this?
        When should I use it?
        How much does it cost?
        What time is it?
        What is the weather like today?
        Tell me a joke.
        Can you write a poem for me?
        Do you have a favourite film?
        I have a problem and need advice on what to do.
        What happens if I do nothing?
        Is it better to do it now or later?
        Is there life on other planets?
        It does not work, what now?
    """,
}
