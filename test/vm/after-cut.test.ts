/** After a power cut, exactly the acknowledged work is there, and sandboxes continue. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { carrelAt, halfway, testbeds } from './machine.ts';

interface View {
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly exitCode: number | null;
}

const changes = ['M\tkept', 'D\tremoved', 'A\tadded', 'A\tfolder', 'A\tfolder/deep'];

describe.each(testbeds)('$person', ({ account, folder }) => {
  const project = join(folder, 'project');
  let carrel: Awaited<ReturnType<typeof carrelAt>>;
  beforeAll(async () => {
    carrel = await carrelAt(join(folder, 'home'), account);
  });
  const changed = (name: string) => carrel('diff', '--name-status', name).trim().split('\n').sort();
  const inside = (name: string, ...command: string[]) => carrel('exec', name, '--', ...command);

  it('every sandbox is listed, and a running one is lost', () => {
    const views = (JSON.parse(carrel('--json', 'ls')) as View[]).sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(views).toMatchObject([
      { name: 'taker', state: 'failed', exitCode: 3 },
      { name: 'twin', state: 'stopped' },
      { name: 'worker', state: 'failed', reason: 'lost' },
    ]);
  });

  it('applied changes are in the project, and no others', () => {
    expect(readdirSync(project).sort()).toEqual(['kept', 'removed', 'taken']);
    expect(readFileSync(join(project, 'taken'), 'utf8')).toBe('taken\n');
    carrel('undo', 'taker');
    expect(readFileSync(join(project, 'taken'), 'utf8')).toBe('taken as it was\n');
  });

  it('changes, home and data are kept, and the sandboxes can be forked and started', () => {
    expect(changed('worker')).toEqual([...changes].sort());
    expect(JSON.parse(carrel('--json', 'snapshots', 'worker'))).toMatchObject([{ label: 'first' }]);
    carrel('fork', 'worker', 'heir');
    carrel('start', 'twin');
    expect(changed('twin')).toEqual([...changes].sort());
    expect(changed('heir')).toEqual([...changes].sort());
    expect(inside('twin', 'cat', '/.data/state', '/.data/note', '/home/agent/note')).toBe('second\ndata\nhome\n');
  });

  it('a snapshot is restored with its changes, home and data', () => {
    const [{ id }] = JSON.parse(carrel('--json', 'snapshots', 'worker')) as [{ id: string }];
    carrel('restore', 'worker', id);
    expect(changed('worker')).toEqual([...changes].sort());
    carrel('start', 'worker');
    expect(inside('worker', 'cat', '/.data/state', '/.data/note', '/home/agent/note')).toBe('first\ndata\nhome\n');
  });

  it('doctor finds no leftovers', () => {
    const rows = JSON.parse(carrel('--json', 'doctor')) as { name: string; level: string }[];
    expect(rows.find(({ name }) => name === 'leftovers')).toMatchObject({ level: 'ok' });
    expect(carrel('volume', 'ls')).toContain('memory-bank');
    carrel('down', '--all');
  });
});

describe('an apply that was cut in the middle', () => {
  const { project, home, names, before, after } = halfway;
  const texts = (): string[] => [...new Set(names.map((name) => readFileSync(join(project, name), 'utf8')))];

  it('is complete or not begun, and can be repeated and undone', async () => {
    const carrel = await carrelAt(home, null);
    const [text, ...others] = texts();
    expect(others).toEqual([]);
    expect([before, after]).toContain(text);
    expect(readdirSync(project).sort()).toEqual([...names].sort());
    const changed = carrel('diff', '--name-status', 'many').trim();
    expect(changed.split('\n')).toHaveLength(text === before ? names.length : 1);
    if (text === before) carrel('apply', 'many');
    expect(texts()).toEqual([after]);
    carrel('undo', 'many');
    expect(texts()).toEqual([before]);
    expect(readdirSync(project).sort()).toEqual([...names].sort());
    carrel('down', '--all');
  });
});
