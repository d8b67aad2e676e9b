# cmake -DLOWDOWN=lowdown -DTOOL=brewc -DTEXT=docs/brewc.md -DPAGE=brewc.1 -P ManPage.cmake
#
# Generates a manual page from the tool's page in docs/. The title becomes the section NAME
# that `whatis` reads; links become their text.
file(READ ${TEXT} text)
if(NOT text MATCHES "^# ${TOOL}: ([^\n]+)\n")
  message(FATAL_ERROR "${TEXT} does not begin with '# ${TOOL}: what it does'")
endif()
set(summary ${CMAKE_MATCH_1})
string(REGEX REPLACE "^# [^\n]+\n" "" text "${text}")
string(REGEX REPLACE "\\[([^]\n]+)\\]\\([^)\n]+\\)" "\\1" text "${text}")
string(REGEX REPLACE "\n## " "\n# " text "${text}")
string(REGEX REPLACE "\n### " "\n## " text "${text}")
file(WRITE ${PAGE}.md "# NAME\n\n${TOOL} - ${summary}\n\n# DESCRIPTION\n${text}")
execute_process(
  COMMAND ${LOWDOWN} -s -tman -M title=${TOOL} -M section=1 ${PAGE}.md
  OUTPUT_VARIABLE page RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${LOWDOWN} refused ${PAGE}.md")
endif()
# lowdown keeps the escapes of bars in code in tables.
string(REPLACE "\\e|" "|" page "${page}")
file(WRITE ${PAGE} "${page}")
