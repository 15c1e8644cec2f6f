import { beforeEach, describe, expect, it, test } from 'vitest';
import { createMemoryStore } from '../../../../test/fakes/store/memory.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { Fault } from '../../../model/fault.ts';
import type { Project } from '../../project/model/project.ts';
import type { SpokeMethod } from '../model/spoke.ts';
import { Edits } from './edits.ts';

type State = 'old' | 'prepared' | 'new' | 'lost';

/** Spokes that fail as the test says. */
class FakeSpokes {
  readonly states = new Map<string, State>();
  readonly calls: string[] = [];
  /** Methods that fail, by project. */
  fails: Record<string, readonly SpokeMethod[]> = {};
  left: string[] = [];
  onCall: (method: string) => void = () => {};

  call = async ({ id }: Pick<Project, 'id'>, method: SpokeMethod, request: object): Promise<never> => {
    this.calls.push(`${id} ${method}`);
    this.onCall(method);
    if ('dryRun' in request && request.dryRun) return prepared;
    await Promise.resolve();
    if (method === 'edit/prepare') this.states.set(id, 'prepared');
    if (method === 'edit/apply') this.states.set(id, 'new');
    if (this.fails[id]?.includes(method)) throw new Fault('unavailable', `the sandbox of project ${id} ended`);
    if (method === 'edit/abort') this.states.set(id, 'old');
    return (method === 'edit/abort' ? { left: this.left } : prepared) as never;
  };
}

const prepared = { files: [], count: 0, diff: '', diffTruncated: false } as never;
const projects = ['a', 'b'].map((id): Project => ({ id }) as Project);
const edit = projects.map((project) => ({ project, changes: [] }));
const { signal } = new AbortController();
let store: Store;
let spokes: FakeSpokes;
let known: Project[];
const open = () =>
  new Edits({
    store,
    user: 'ada',
    now: () => '2026-01-01T00:00:00Z',
    spokes: spokes as never,
    projects: { all: () => known },
  });

beforeEach(() => {
  store = createMemoryStore();
  spokes = new FakeSpokes();
  known = projects;
});

const rows = () => store.list('edit').length;
const events = () => store.events(0, 100).map(({ type }) => type);

it('an edit is applied in every project, recorded as done, and then its journals and row are removed', async () => {
  await open().apply(edit, signal);
  expect([...spokes.states.values()]).toEqual(['new', 'new']);
  expect(spokes.calls.map((call) => call.split(' ')[1])).toEqual([
    ...['edit/prepare', 'edit/prepare', 'edit/apply', 'edit/apply', 'edit/finish', 'edit/finish'],
  ]);
  expect(rows()).toBe(0);
  expect(events()).toEqual(['edit.begun', 'edit.done', 'edit.finished']);
});

it('a preview is prepared without a row', async () => {
  await open().preview(edit);
  expect(events()).toEqual([]);
});

test.each<[SpokeMethod]>([['edit/prepare'], ['edit/apply']])(
  'if a spoke is lost in %s, the edit is reverted in all projects',
  async (method) => {
    spokes.fails = { b: [method] };
    await expect(open().apply(edit, signal)).rejects.toMatchObject({ code: 'unavailable' });
    expect([...spokes.states.values()]).toEqual(['old', 'old']);
    expect(rows()).toBe(0);
    expect(events()).toEqual(['edit.begun', 'edit.aborted']);
  },
);

it('a client that goes away before the files are exchanged changes nothing', async () => {
  const abort = new AbortController();
  spokes.onCall = () => abort.abort();
  await expect(open().apply(edit, abort.signal)).rejects.toMatchObject({ code: 'cancelled' });
  expect(spokes.calls).not.toContain('a edit/apply');
  expect([...spokes.states.values()]).toEqual(['old', 'old']);
});

describe('an edit that a lost spoke cannot revert', () => {
  it('is named in the error, and reverted before the next call to its project', async () => {
    spokes.fails = { b: ['edit/apply', 'edit/abort'] };
    const edits = open();
    await expect(edits.apply(edit, signal)).rejects.toThrow(/project b is not restored yet/);
    expect([edits.isOpen('a'), edits.isOpen('b'), rows()]).toEqual([false, true, 1]);
    await expect(edits.settle('b')).rejects.toMatchObject({ code: 'unavailable' });
    spokes.fails = {};
    await edits.settle('b');
    expect([edits.isOpen('b'), rows(), spokes.states.get('b')]).toEqual([false, 0, 'old']);
  });

  it('is reverted by the next daemon', async () => {
    spokes.fails = { b: ['edit/apply', 'edit/abort'] };
    await expect(open().apply(edit, signal)).rejects.toThrow();
    spokes.fails = {};
    const next = open();
    expect(next.unsettled()).toEqual(['a', 'b']);
    await Promise.all(next.unsettled().map((id) => next.settle(id)));
    expect([...spokes.states.values(), rows()]).toEqual(['old', 'old', 0]);
  });

  it('is forgotten with its project', async () => {
    spokes.fails = { b: ['edit/apply', 'edit/abort'] };
    const edits = open();
    await expect(edits.apply(edit, signal)).rejects.toThrow();
    known = projects.slice(0, 1);
    await edits.settle('b');
    expect(rows()).toBe(0);
  });
});

it('an edit stays applied if a journal cannot be removed, and the next daemon removes it', async () => {
  spokes.fails = { b: ['edit/finish'] };
  await open().apply(edit, signal);
  expect([...spokes.states.values(), rows()]).toEqual(['new', 'new', 1]);
  spokes.fails = {};
  await open().settle('b');
  expect(spokes.states.get('b')).toBe('new');
});

it('the error names files that were changed meanwhile and left as they are', async () => {
  spokes.fails = { b: ['edit/apply'] };
  spokes.left = ['src/x.ts'];
  await expect(open().apply(edit, signal)).rejects.toThrow(/a: src\/x\.ts was changed meanwhile and left as it is/);
});

it('edits that share a project run one after the other, whatever the order of their projects', async () => {
  const edits = open();
  await Promise.all([edits.apply(edit, signal), edits.apply([...edit].reverse(), signal)]);
  const ends = spokes.calls.map((call) => call.split('/')[1]).join(' ');
  expect(ends).toBe(
    ['prepare prepare apply apply finish finish', 'prepare prepare apply apply finish finish'].join(' '),
  );
});
