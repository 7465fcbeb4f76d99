# Extracts the failed tests from ctest's output, each with a few lines of its own output.
function close_block(  i) {
  for (i = 1; failing && !told && i <= 6; i++)
    if (last[(seen + i) % 6] != "") print "    " last[(seen + i) % 6]
  failing = told = left = seen = 0
  delete last
}
/ Test +#[0-9]+: / {
  close_block()
  failing = /\*\*\*/ && !/\*\*\*(Skipped|Not Run \(Disabled\))/
  if (failing) {
    sub(/^.* Test +#[0-9]+: /, "")
    gsub(/ *\.\.\.+/, " ")
    print "  " $0
  }
  next
}
/^ +Start +[0-9]+: |% tests passed/ { close_block() }
!failing || /^$/ { next }
/: Failure$|SUMMARY: |terminate called/ && told < 3 {
  told++
  left = 6
}
left > 0 {
  print "    " substr($0, 1, 200)
  left--
}
{ last[++seen % 6] = substr($0, 1, 200) }
