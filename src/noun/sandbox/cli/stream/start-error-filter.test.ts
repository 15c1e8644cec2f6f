import { expect, it, vi } from 'vitest';
import { StartErrorFilter, startFault } from './start-error-filter.ts';

const ended = (exitCode: number) => ({ exitCode, signal: null, outOfMemory: false });

async function outcome(exitCode: number, ...words: string[]): Promise<{ shown: string; message: string | null }> {
  const shown: string[] = [];
  const sink = (chunk: Buffer) => void shown.push(String(chunk));
  const filter = new StartErrorFilter({ stdout: sink, stderr: sink });
  for (const word of words) await filter.sinks.stderr(Buffer.from(word));
  const refusal = await filter.refusal(ended(exitCode), ['nosuch']);
  return { shown: shown.join(''), message: refusal?.message ?? null };
}

it.each([
  '[FATAL tini (2)] exec nosuch failed: No such file or directory\n',
  '[FATAL tini (7)] exec nosuch failed: No such file or directory\r\n',
  'ERROR (catatonit:2): failed to exec pid1: No such file or directory\n',
  'executable file `nosuch` not found in $PATH: No such file or directory\n',
  'OCI runtime exec failed: exec failed: unable to start container process: exec: "nosuch": executable file not found in $PATH: unknown\r\n',
  'nosuch could not be started\r\n',
])('an error of init or runtime about a missing program is replaced: %j', async (words) => {
  expect(await outcome(127, words)).toEqual({ shown: '', message: 'there is no program nosuch in the sandbox' });
});

it('an error that arrives in pieces is replaced too', async () => {
  const pieces = ['[FATAL tini (2)] ', 'exec nosuch failed: No such file or directory', '\n'];
  expect(await outcome(127, ...pieces)).toEqual({ shown: '', message: 'there is no program nosuch in the sandbox' });
});

it('an error of the command itself is shown, also with exit code 127', async () => {
  const words = ['Error: no configuration\n', 'sh: 1: tool: not found\n'];
  expect(await outcome(127, ...words)).toEqual({ shown: words.join(''), message: null });
});

it('the same text is shown if the program did start', async () => {
  const words = '[FATAL tini (2)] exec nosuch failed: No such file or directory\n';
  expect(await outcome(0, words)).toEqual({ shown: words, message: null });
  expect(await outcome(127, 'sh: 1: nosuch: not found\n')).toEqual({
    shown: 'sh: 1: nosuch: not found\n',
    message: null,
  });
  expect(await outcome(3, 'first\n', words, 'last\n')).toEqual({ shown: `first\n${words}last\n`, message: null });
});

it('text that only begins like such an error is shown while the command runs', async () => {
  vi.useFakeTimers();
  try {
    const shown: string[] = [];
    const sink = (chunk: Buffer) => void shown.push(String(chunk));
    const { sinks } = new StartErrorFilter({ stdout: sink, stderr: sink });
    await sinks.stderr(Buffer.from('chdir to a new folder? '));
    await vi.advanceTimersByTimeAsync(1000);
    expect(shown).toEqual(['chdir to a new folder? ']);
    await sinks.stdout(Buffer.from('made'));
    expect(shown).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});

it('a missing folder and a file that cannot be run have different messages', () => {
  expect(startFault('ls', 'chdir `/no`: No such file or directory\n').message).toContain('no folder /no');
  const runc = 'OCI runtime exec failed: … chdir to cwd ("/no") set in config.json failed: no such file or directory';
  expect(startFault('ls', runc).message).toContain('no folder /no');
  expect(startFault('/etc/passwd', 'open executable: Permission denied\n').message).toContain('not executable');
});
