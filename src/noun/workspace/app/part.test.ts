import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../../test/fakes/store/memory.ts';
import { homeVolume } from '../../../../test/fixtures/places.ts';
import { sampleSpec } from '../../../../test/fixtures/sandbox.ts';
import { openHome } from '../../../kernel/home/home.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { Exclusive } from '../../../lib/flow/exclusive.ts';
import { Fault } from '../../../model/fault.ts';
import { sandboxData } from '../../sandbox/app/parts.ts';
import { initialStatus, type Sandbox, type SandboxSpec } from '../../sandbox/model.ts';
import { workspacePart } from './part.ts';
import { unappliedIn } from './unapplied.ts';

const id = '0123456789abcdef';
let folder: string;
let reported: string[];
let looked: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-data-'));
  [reported, looked] = [[], []];
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The part of workspaces, with threads whose jobs all fail, and a sandbox that has only this part. */
function data() {
  const home = openHome(join(folder, 'home'), false, homeVolume);
  const store = createMemoryStore();
  const threads = {
    cancel: () => {},
    run: async (...[, name]: readonly unknown[]): Promise<never> => {
      looked.push(String(name));
      throw new Fault('exhausted', 'there are too many changes');
    },
  };
  const part = workspacePart({
    ...{ home, store, threads, locks: new Exclusive(), watch: { keep: async () => {} } },
    unappliedIn: (sandbox: Sandbox) => unappliedIn({ home, threads }, sandbox),
    forgetApplies: async () => {},
  });
  const log = { maxBytes: 1, files: 1 };
  const { conclude } = sandboxData({ home, log, parts: [part], report: (_, fault) => reported.push(fault.message) });
  return { ...part, conclude, home, store };
}

function sandbox(change: Partial<SandboxSpec>): Sandbox {
  const project = join(folder, 'project');
  mkdirSync(project, { recursive: true });
  const spec: SandboxSpec = { ...sampleSpec, project, mode: 'overlay', workspace: 'overlay', ...change };
  return { id, name: 'box', createdAt: '', spec, status: initialStatus };
}

function record(store: Store, value: Sandbox): void {
  const event = { at: '', type: 'sandbox.created', subject: id, data: {} };
  store.insert({ kind: 'sandbox', id, owner: 'ann', name: value.name, value }, event);
}

describe('the end of a sandbox', () => {
  it.each([true, false])(
    'is recorded although the changes cannot be listed, which keeps a sandbox with autoRemove (%j)',
    async (autoRemove) => {
      const { conclude, home } = data();
      mkdirSync(join(home.state(id), 'workspace/upper/changed'), { recursive: true });
      expect(await conclude(sandbox({ autoRemove }))).toBe(autoRemove);
      expect(reported).toEqual(autoRemove ? ['there are too many changes'] : []);
    },
  );

  it('is recorded although the folder of the sandbox cannot be read', async () => {
    const { conclude, home } = data();
    mkdirSync(join(home.state(id), 'workspace'), { recursive: true });
    writeFileSync(join(home.state(id), 'workspace/upper'), 'no folder');
    expect(await conclude(sandbox({ autoRemove: true }))).toBe(true);
    expect(reported).toHaveLength(1);
  });

  it('is recorded without a list of changes if the sandbox is being removed', async () => {
    const { conclude, home } = data();
    mkdirSync(join(home.state(id), 'workspace/upper/changed'), { recursive: true });
    expect(await conclude(sandbox({ autoRemove: true, desired: 'removed' }))).toBe(false);
    expect(looked).toEqual([]);
  });
});

it('changes that cannot be compared because the project is gone are refused with a hint', async () => {
  const { unapplied, home, store } = data();
  mkdirSync(join(home.state(id), 'workspace/upper/changed'), { recursive: true });
  const box = sandbox({});
  record(store, box);
  rmSync(box.spec.project!, { recursive: true });
  await expect(unapplied(box)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('does not exist any more'),
    hint: expect.stringContaining('carrel rm --force box'),
  });
});

it('a sandbox that is being removed has no unapplied changes', async () => {
  const { unapplied, home, store } = data();
  mkdirSync(join(home.state(id), 'workspace/upper/changed'), { recursive: true });
  const box = sandbox({});
  record(store, { ...box, spec: { ...box.spec, desired: 'removed' } });
  expect(await unapplied(box)).toBeNull();
  expect(looked).toEqual(['countChanges']);
});
