"""What can be asked about."""

from __future__ import annotations

from fastapi import APIRouter

from antiphon.api.facade import Service
from antiphon.api.schemas import CourseReply, CoursesReply, LessonReply

router = APIRouter(prefix="/api", tags=["courses"])


@router.get("/courses", summary="The courses")
async def courses(service: Service) -> CoursesReply:
    """The indexed courses, with their lessons."""
    found = service.courses()
    return CoursesReply(
        total_courses=len(found),
        course_titles=[course.title for course in found],
        courses=[
            CourseReply(
                title=course.title,
                link=course.link,
                instructor=course.instructor,
                lessons=[
                    LessonReply(number=lesson.number, title=lesson.title, link=lesson.link) for lesson in course.lessons
                ],
            )
            for course in found
        ],
    )
