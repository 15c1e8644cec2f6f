import { describe, expect, it } from 'vitest';
import { createFakeEngine } from '../../../../../test/fakes/engine/engine.ts';
import { defaultLimits } from '../../../../model/limits.ts';
import { type Claim, type ClaimFacts, held } from './claim.ts';
import { type ScriptOutput, tryClaim, tryParallel, trySerial } from './run.ts';

const facts = { limits: defaultLimits, enforced: ['pids'], arch: 'x64' } as unknown as ClaimFacts;
const claim: Claim = { id: 'files', script: 'ls', judge: (output) => held(output) };
const withOutput = (output: Partial<ScriptOutput>) => async () => ({ exitCode: 0, stdout: '', stderr: '', ...output });

describe('a claim', () => {
  it('is judged by the output of its script', async () => {
    const row = await tryClaim(claim, withOutput({ stdout: 'fine' }), facts);
    expect(row).toEqual({ name: 'files', level: 'ok', detail: 'fine', hint: null });
  });

  it('is not proved by a script that failed', async () => {
    const row = await tryClaim(claim, withOutput({ exitCode: 127, stderr: 'a\nsh: not found\n' }), facts);
    expect(row).toMatchObject({ level: 'failure', detail: 'not proved: sh: not found' });
    expect((await tryClaim(claim, withOutput({ exitCode: 137 }), facts)).detail).toBe(
      'not proved: the trial ended with 137',
    );
  });

  it('is not proved in a sandbox that is gone', async () => {
    const gone = () => createFakeEngine().exec('0123456789abcdef', null, {} as never);
    const row = await tryClaim(claim, gone as never, facts);
    expect(row).toMatchObject({ name: 'files', level: 'failure', detail: expect.stringContaining('not proved: ') });
    expect(row.hint).not.toBeNull();
  });

  it('about a limit is not tried if the limit is not enforced', async () => {
    const never = () => Promise.reject(new Error('it was tried'));
    const row = await tryClaim({ ...claim, limit: 'memoryBytes' }, never, facts);
    expect(row).toMatchObject({ level: 'warning', hint: 'See the hint of cgroups.' });
  });
});

describe('all claims', () => {
  it('get a row each, even if no sandbox can be made', async () => {
    const broken = () => Promise.reject(new Error('no sandbox'));
    const rows = [...(await tryParallel(broken, facts)), ...(await trySerial(broken, facts))];
    expect(rows).toHaveLength(20);
    expect(rows.filter(({ level }) => level === 'ok')).toEqual([]);
  });
});
