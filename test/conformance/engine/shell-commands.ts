import { type Commands, floodLine } from './setup.ts';

/** The commands for an engine that runs real programs; `shared` is where the shared folder is inside. */
export function shellCommands(shared: string): Commands {
  const script = (text: string, ...args: (string | number)[]) => ['/bin/sh', '-c', text, ...args.map(String)];
  const waiting = 'echo ready; while :; do sleep 0.05; done';
  return {
    print: (text) => ['printf', '%s', text],
    printBoth: (stdout, stderr) => script('printf %s "$0"; printf %s "$1" >&2', stdout, stderr),
    printEnv: ['env'],
    printFolder: ['pwd'],
    copyStdin: ['cat'],
    flood: (bytes) => script('yes "$0" | head -c "$1"', floodLine, bytes),
    exit: (code) => script('exit "$0"', code),
    dieBy: (signal) => script('kill -s "$0" $$', signal.slice('SIG'.length)),
    missing: ['/no/such/program'],
    wait: script('echo ready; exec sleep infinity'),
    exitOnTerm: (code) => script(`trap "exit $0" TERM; ${waiting}`, code),
    ignoreTerm: script('trap "" TERM; echo ready; exec sleep infinity'),
    count: (file, code) => script('echo >> "$0"; exit "$1"', `${shared}/${file}`, code),
    countAndWait: (file) => script('echo >> "$0"; echo ready; exec sleep infinity', `${shared}/${file}`),
    afterFile: ({ go, bytes, done, code }) =>
      script(
        'echo ready; until [ -e "$0/$1" ]; do sleep 0.02; done; yes "$2" | head -c "$3"; echo >> "$0/$4"; exit "$5"',
        ...[shared, go, floodLine, bytes, done, code],
      ),
    tick: (file) => script('echo ready; while :; do echo >> "$0"; sleep 0.01; done', `${shared}/${file}`),
    tellTerminal: script('if [ -t 0 ] && [ -t 1 ]; then echo terminal; else echo pipe; fi'),
    tellSize: script(`trap "stty size" WINCH; stty size; ${waiting}`),
  };
}
