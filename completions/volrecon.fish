# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_volrecon_global_optspecs
    string join \n config= timeout= o/output= color= no-headers q/quiet v/verbose h/help V/version
end

function __fish_volrecon_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_volrecon_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_volrecon_using_subcommand
    set -l cmd (__fish_volrecon_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c volrecon -n "__fish_volrecon_needs_command" -l config -d 'Configuration file to read' -r -F
complete -c volrecon -n "__fish_volrecon_needs_command" -l timeout -d 'Give up the whole run after this time' -r
complete -c volrecon -n "__fish_volrecon_needs_command" -s o -l output -d 'Format of the results on stdout' -r -f -a "table\t'For people'
json\t'One JSON document'
jsonl\t'A JSON object a line: the findings, then a summary'
csv\t'A finding a line, for spreadsheets'"
complete -c volrecon -n "__fish_volrecon_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t'Only on a terminal that can show it'
always\t'Also into pipes and files'
never\t'Not at all'"
complete -c volrecon -n "__fish_volrecon_needs_command" -l no-headers -d 'Leave out the header lines of table and csv'
complete -c volrecon -n "__fish_volrecon_needs_command" -s q -l quiet -d 'Only the findings\' own lines, and no warnings'
complete -c volrecon -n "__fish_volrecon_needs_command" -s v -l verbose -d 'Timelines, sources, and lists in full; twice: what is being done'
complete -c volrecon -n "__fish_volrecon_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c volrecon -n "__fish_volrecon_needs_command" -s V -l version -d 'Print version'
complete -c volrecon -n "__fish_volrecon_needs_command" -f -a "scan" -d 'Compare database and hypervisors, and tell where they disagree'
complete -c volrecon -n "__fish_volrecon_needs_command" -f -a "jobs" -d 'List attach and detach work that waits or runs, and the stragglers to be'
complete -c volrecon -n "__fish_volrecon_needs_command" -f -a "explain" -d 'Tell who did what to a volume, what a finding stands on, or what a class means'
complete -c volrecon -n "__fish_volrecon_needs_command" -f -a "completions" -d 'Write a completion script for a shell'
complete -c volrecon -n "__fish_volrecon_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -l host -d 'VMs that the rows place on this host, and domains seen on it (repeatable)' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -l vm -d 'This VM and its volumes (repeatable)' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -l volume -d 'This volume (repeatable)' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -l cluster -d 'The hosts of this cluster (repeatable)' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -l zone -d 'The hosts of this zone (repeatable)' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -l min-severity -d 'Leave out findings below this severity; they do not count for the exit code either' -r -f -a "low\t''
medium\t''
high\t''
critical\t''"
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -l save -d 'Also write all that was seen to a file, for --evidence' -r -F
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -l evidence -d 'Judge a file that --save wrote; neither database nor hosts are asked' -r -F
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -l settle -d 'Look at suspects again after this time; only what still stands is a finding' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -l stuck-after -d 'What has been in flux for longer than this is stuck, and counts as not seen' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -l config -d 'Configuration file to read' -r -F
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -l timeout -d 'Give up the whole run after this time' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -s o -l output -d 'Format of the results on stdout' -r -f -a "table\t'For people'
json\t'One JSON document'
jsonl\t'A JSON object a line: the findings, then a summary'
csv\t'A finding a line, for spreadsheets'"
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -l color -d 'When to use colour' -r -f -a "auto\t'Only on a terminal that can show it'
always\t'Also into pipes and files'
never\t'Not at all'"
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -l all -d 'List every volume beside its disk, healthy ones too'
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -l no-headers -d 'Leave out the header lines of table and csv'
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -s q -l quiet -d 'Only the findings\' own lines, and no warnings'
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -s v -l verbose -d 'Timelines, sources, and lists in full; twice: what is being done'
complete -c volrecon -n "__fish_volrecon_using_subcommand scan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c volrecon -n "__fish_volrecon_using_subcommand jobs" -l host -d 'VMs that the rows place on this host, and domains seen on it (repeatable)' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand jobs" -l vm -d 'This VM and its volumes (repeatable)' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand jobs" -l volume -d 'This volume (repeatable)' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand jobs" -l cluster -d 'The hosts of this cluster (repeatable)' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand jobs" -l zone -d 'The hosts of this zone (repeatable)' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand jobs" -l config -d 'Configuration file to read' -r -F
complete -c volrecon -n "__fish_volrecon_using_subcommand jobs" -l timeout -d 'Give up the whole run after this time' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand jobs" -s o -l output -d 'Format of the results on stdout' -r -f -a "table\t'For people'
json\t'One JSON document'
jsonl\t'A JSON object a line: the findings, then a summary'
csv\t'A finding a line, for spreadsheets'"
complete -c volrecon -n "__fish_volrecon_using_subcommand jobs" -l color -d 'When to use colour' -r -f -a "auto\t'Only on a terminal that can show it'
always\t'Also into pipes and files'
never\t'Not at all'"
complete -c volrecon -n "__fish_volrecon_using_subcommand jobs" -l no-headers -d 'Leave out the header lines of table and csv'
complete -c volrecon -n "__fish_volrecon_using_subcommand jobs" -s q -l quiet -d 'Only the findings\' own lines, and no warnings'
complete -c volrecon -n "__fish_volrecon_using_subcommand jobs" -s v -l verbose -d 'Timelines, sources, and lists in full; twice: what is being done'
complete -c volrecon -n "__fish_volrecon_using_subcommand jobs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c volrecon -n "__fish_volrecon_using_subcommand explain" -l class -d 'Tell about a class instead' -r -f -a "identity-conflict\t''
split-vm\t''
deleted-in-use\t''
double-open\t''
vm-drift\t''
foreign-holder\t''
wrong-vm\t''
incomplete-detach\t''
straggler-detach\t''
lost-attach\t''
missing-disk\t''
slot-mismatch\t''
duplicate-slot\t''
unknown-disk\t''
pending-straggler\t''"
complete -c volrecon -n "__fish_volrecon_using_subcommand explain" -l evidence -d 'Explain from a file that scan --save wrote; neither database nor hosts are asked' -r -F
complete -c volrecon -n "__fish_volrecon_using_subcommand explain" -l management-log -d 'A management server\'s log, plain or .gz; - for stdin (repeatable)' -r -F
complete -c volrecon -n "__fish_volrecon_using_subcommand explain" -l agent-log -d 'The log of the agent on a host, plain or .gz (repeatable)' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand explain" -l log-zone -d 'Time zone of the logs: a name as Europe/Berlin, an offset as +02:00, or UTC; unless told, this machine\'s' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand explain" -l config -d 'Configuration file to read' -r -F
complete -c volrecon -n "__fish_volrecon_using_subcommand explain" -l timeout -d 'Give up the whole run after this time' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand explain" -s o -l output -d 'Format of the results on stdout' -r -f -a "table\t'For people'
json\t'One JSON document'
jsonl\t'A JSON object a line: the findings, then a summary'
csv\t'A finding a line, for spreadsheets'"
complete -c volrecon -n "__fish_volrecon_using_subcommand explain" -l color -d 'When to use colour' -r -f -a "auto\t'Only on a terminal that can show it'
always\t'Also into pipes and files'
never\t'Not at all'"
complete -c volrecon -n "__fish_volrecon_using_subcommand explain" -l no-headers -d 'Leave out the header lines of table and csv'
complete -c volrecon -n "__fish_volrecon_using_subcommand explain" -s q -l quiet -d 'Only the findings\' own lines, and no warnings'
complete -c volrecon -n "__fish_volrecon_using_subcommand explain" -s v -l verbose -d 'Timelines, sources, and lists in full; twice: what is being done'
complete -c volrecon -n "__fish_volrecon_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c volrecon -n "__fish_volrecon_using_subcommand completions" -l config -d 'Configuration file to read' -r -F
complete -c volrecon -n "__fish_volrecon_using_subcommand completions" -l timeout -d 'Give up the whole run after this time' -r
complete -c volrecon -n "__fish_volrecon_using_subcommand completions" -s o -l output -d 'Format of the results on stdout' -r -f -a "table\t'For people'
json\t'One JSON document'
jsonl\t'A JSON object a line: the findings, then a summary'
csv\t'A finding a line, for spreadsheets'"
complete -c volrecon -n "__fish_volrecon_using_subcommand completions" -l color -d 'When to use colour' -r -f -a "auto\t'Only on a terminal that can show it'
always\t'Also into pipes and files'
never\t'Not at all'"
complete -c volrecon -n "__fish_volrecon_using_subcommand completions" -l no-headers -d 'Leave out the header lines of table and csv'
complete -c volrecon -n "__fish_volrecon_using_subcommand completions" -s q -l quiet -d 'Only the findings\' own lines, and no warnings'
complete -c volrecon -n "__fish_volrecon_using_subcommand completions" -s v -l verbose -d 'Timelines, sources, and lists in full; twice: what is being done'
complete -c volrecon -n "__fish_volrecon_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c volrecon -n "__fish_volrecon_using_subcommand help; and not __fish_seen_subcommand_from scan jobs explain completions help" -f -a "scan" -d 'Compare database and hypervisors, and tell where they disagree'
complete -c volrecon -n "__fish_volrecon_using_subcommand help; and not __fish_seen_subcommand_from scan jobs explain completions help" -f -a "jobs" -d 'List attach and detach work that waits or runs, and the stragglers to be'
complete -c volrecon -n "__fish_volrecon_using_subcommand help; and not __fish_seen_subcommand_from scan jobs explain completions help" -f -a "explain" -d 'Tell who did what to a volume, what a finding stands on, or what a class means'
complete -c volrecon -n "__fish_volrecon_using_subcommand help; and not __fish_seen_subcommand_from scan jobs explain completions help" -f -a "completions" -d 'Write a completion script for a shell'
complete -c volrecon -n "__fish_volrecon_using_subcommand help; and not __fish_seen_subcommand_from scan jobs explain completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
