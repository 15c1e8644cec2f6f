/**
 * The commands a fake sandbox knows, in place of programs:
 *
 *   true, false          end with 0, with 1
 *   exit N               ends with N
 *   echo WORD…           writes the words and a newline
 *   stderr TEXT          writes TEXT to stderr
 *   cat                  copies stdin to stdout
 *   sleep ANYTHING       runs until a signal ends it; no time passes here
 *   env, pwd             write the environment, the working folder
 *
 * Any other command ends with 127, as in a shell. Tests may add commands.
 */
import type { End, ProgramSurroundings, Programs } from './process.ts';
import { writeAndDrain } from './process.ts';

export const programs: Programs = {
  true: () => 0,
  false: () => 1,
  exit: ({ args }) => Number(args[0] ?? 0),
  echo: ({ args, stdout }) => say(stdout, `${args.join(' ')}\n`),
  stderr: ({ args, stderr }) => say(stderr, args[0] ?? ''),
  cat: async ({ stdin, stdout }) => {
    for await (const chunk of stdin) await writeAndDrain(stdout, chunk as Buffer);
    return 0;
  },
  sleep: forever,
  env: ({ env, stdout }) =>
    say(
      stdout,
      Object.entries(env)
        .map(([key, value]) => `${key}=${value}\n`)
        .join(''),
    ),
  pwd: ({ cwd, stdout }) => say(stdout, `${cwd}\n`),
};

/** Never ends by itself. */
export function forever(): Promise<End> {
  return new Promise(() => {});
}

export function say(stream: ProgramSurroundings['stdout'], text: string): End {
  stream.write(text);
  return 0;
}
