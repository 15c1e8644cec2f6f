import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../test/harness/processor-time.ts';
import { isFault } from '../../model/fault.ts';
import { BuildProgress } from './progress.ts';

const steps = ['FROM base', 'RUN make', 'USER agent'].map((title, index) => ({ title, text: title, line: index + 1 }));
const begin = () => new BuildProgress({ file: 'D', steps, hint: 'Mend it.' });
const take = (progress: BuildProgress, ...texts: string[]) =>
  texts
    .flatMap((text) => progress.take({ kind: 'output', text }))
    .map((event) => (event.kind === 'step' ? `${event.number}/${event.total} ${event.title}` : event.text));

function failure(progress: BuildProgress, exitCode: number | null = 1) {
  try {
    progress.take({ kind: 'failure', message: 'it broke', exitCode });
  } catch (error) {
    if (isFault(error)) return error;
  }
  throw new Error('no failure');
}

describe('progress', () => {
  it('consists of steps with their titles, their output, and no messages of the engine', () => {
    const output = [
      'Step 1/3 : FROM sha256:1',
      '\n',
      ' ---> 123\n',
      'Step 2/3 : RUN make',
      '\n',
      ' ---> Running in 4\n',
    ];
    expect(take(begin(), ...output, 'one\ntw', 'o\n', 'Removing intermediate container 4\n')).toEqual([
      '1/3 FROM base',
      '2/3 RUN make',
      'one',
      'two',
    ]);
  });

  it('counts a line in the output of a command as a step only if it announces the very next one', () => {
    const progress = begin();
    take(progress, 'Step 1/3 : FROM x', '\n');
    expect(take(progress, 'Step 3/3 : RUN evil\nStep 2/9 : RUN evil\nStep 1/3 : x\n')).toEqual([
      'Step 3/3 : RUN evil\nStep 2/9 : RUN evil\nStep 1/3 : x',
    ]);
    expect(take(progress, 'STEP 2/3: RUN make\nprinted\nSTEP 3/3: USER\n')).toEqual([
      '2/3 RUN make',
      'printed',
      '3/3 USER agent',
    ]);
  });

  it('is parsed quickly when there is a lot of it', () => {
    const progress = begin();
    const flood = 'y\n'.repeat(500_000);
    const began = processorMs();
    expect(progress.take({ kind: 'output', text: flood })).toHaveLength(1);
    expect(take(progress, `${'x'.repeat(1_000_000)}`)).toEqual([]);
    expect(processorMs() - began).toBeLessThan(2000);
    expect(take(progress, '\n')[0]).toHaveLength(400);
  });
});

describe('a failure', () => {
  it('names the step, its line, its code and its last lines', () => {
    const progress = begin();
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}\n`);
    take(progress, 'Step 1/3 : FROM x', '\n', 'early\n', 'Step 2/3 : RUN make', '\n', ...lines);
    const fault = failure(progress, 2);
    expect(fault.message.split('\n')).toEqual([
      'D, line 2: step 2 of 3 failed (exit code 2): RUN make',
      ...lines.slice(-20).map((line) => line.trim()),
    ]);
    expect([fault.code, fault.hint, fault.data]).toMatchObject([
      'invalid',
      'Mend it.',
      { line: 2, step: 2, exitCode: 2 },
    ]);
    expect(failure(progress, null).message).toContain('failed (it broke): RUN make');
  });

  it('for lack of disk space is reported as `exhausted`', () => {
    const progress = begin();
    take(progress, 'Step 1/3 : FROM x', '\n', 'cp: write error: No space left on device\n');
    expect(failure(progress)).toMatchObject({ code: 'exhausted', hint: 'Free some disk space, and build again.' });
  });

  it('before any step is reported as a failure of the engine', () => {
    expect(failure(begin())).toMatchObject({ code: 'unavailable', message: 'the engine cannot build D: it broke' });
  });
});
