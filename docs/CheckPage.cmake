# cmake -DGENERATE=COMMAND... -DPAGE=committed -DFRESH=scratch -P CheckPage.cmake
# fails unless GENERATE writes to FRESH what PAGE holds.
execute_process(COMMAND ${GENERATE} -o ${FRESH} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "the page could not be generated: ${failed}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${PAGE} ${FRESH}
                RESULT_VARIABLE differs)
if(differs)
  message(FATAL_ERROR
    "${PAGE} is out of date: build the target brew-docs and commit the page")
endif()
