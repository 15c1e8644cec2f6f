import { describe, expect, it } from 'vitest';
import { Output } from '../../../client/output/output.ts';
import type { SandboxView } from '../api.ts';
import { warnAboutFallback } from './fallback.ts';

const view = {
  name: 'desk',
  workspace: null,
  limits: { advisory: ['cpus', 'memoryBytes', 'diskBytes'] },
} as unknown as SandboxView;

function written(json: boolean, tell: (out: Output) => void): { stdout: string; stderr: string } {
  const [stdout, stderr] = [[] as string[], [] as string[]];
  const sink = (into: string[]) => ({ write: (text: string) => into.push(text) });
  tell(new Output(json, sink(stdout), sink(stderr), {}));
  return { stdout: stdout.join(''), stderr: stderr.join('') };
}

describe('limits that cannot be enforced', () => {
  it('are named by their options, once in each command, if they were requested', () => {
    const request = { limits: { cpus: 1, memoryBytes: 2 ** 29, pids: 9 } };
    const { stdout, stderr } = written(false, (out) => {
      warnAboutFallback(out, request, view);
      warnAboutFallback(out, request, view);
    });
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^carrel: --cpus, --memory cannot be enforced here: .*--strict refuses\n$/);
  });

  it('are not mentioned if they were not requested', () => {
    expect(written(false, (out) => warnAboutFallback(out, {}, view)).stderr).toBe('');
  });

  it('are not mentioned with --json: limits.advisory has them', () => {
    expect(written(true, (out) => warnAboutFallback(out, { limits: { cpus: 1 } }, view))).toEqual({
      stdout: '',
      stderr: '',
    });
  });
});
