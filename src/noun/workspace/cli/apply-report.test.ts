import { describe, expect, test } from 'vitest';
import type { Context } from '../../../client/cli.ts';
import { Output } from '../../../client/output/output.ts';
import { table } from '../../cli.ts';
import type { ApplyView, PlannedView } from '../api.ts';
import { conclude } from './apply-conclude.ts';
import { forecast } from './apply-forecast.ts';
import { entryText, report } from './apply-report.ts';

const quiet = new Output(false, { write: () => {} });
const file = (sizeBytes: number, mode = 0o644) => ({ type: 'file', mode, sizeBytes, target: null }) as const;
const clash = { reason: 'both changed the same lines', base: file(10), ours: file(11), theirs: file(12), with: null };

function planned(path: string, outcome: PlannedView['outcome'], rest: Partial<PlannedView> = {}): PlannedView {
  return {
    path,
    sandbox: 'a',
    change: 'modified',
    outcome,
    hardLink: null,
    gates: [],
    note: null,
    conflict: null,
    ...rest,
  };
}

function view(paths: PlannedView[], rest: Partial<ApplyView> = {}): ApplyView {
  return {
    apply: null,
    blocked: null,
    paths,
    plan: '',
    hiddenInGit: 0,
    ignored: { files: 0, more: false, places: [] },
    commits: [],
    warnings: [],
    always: [],
    branch: null,
    ...rest,
  };
}

function concluded(verb: 'apply' | 'merge', request: Parameters<typeof conclude>[2], found: ApplyView, json = false) {
  const output = { stdout: '', stderr: '' };
  const out = new Output(
    json,
    { write: (text) => (output.stdout += text) },
    { write: (text) => (output.stderr += text) },
  );
  const code = conclude(
    { home: '/h', socket: null, user: null, json, table, out } satisfies Context,
    verb,
    request,
    found,
  );
  return { code, ...output };
}

describe('the report', () => {
  test('shows long paths in full on a narrow terminal, each with its gates and note', () => {
    const long = `${'folder/'.repeat(14)}file`;
    const paths = [planned(long, 'take', { gates: ['executable'] }), planned('b', 'take', { note: 'a note' })];
    const narrow = { write: () => {}, isTTY: true, columns: 80 };
    expect(report(view(paths), new Output(false, narrow, narrow, { NO_COLOR: '1' }))).toEqual([
      'would be taken (2)',
      `  modified  ${long}  [executable]`,
      '  modified  b',
      '      a note',
    ]);
  });

  test('groups the paths by outcome', () => {
    const paths = [
      planned('new.ts', 'take', { change: 'added' }),
      planned('same', 'same'),
      planned('both.md', 'merge'),
      planned('bin/x', 'take', { change: 'mode', gates: ['executable'] }),
      planned('odd\n', 'left', { change: 'deleted', gates: ['ci'] }),
    ];
    expect(report(view(paths, { apply: '1' }), quiet)).toEqual([
      'taken (2)',
      '  added         new.ts',
      '  mode changed  bin/x   [executable]',
      'merged (1)',
      '  modified  both.md',
      'already there (1)',
      '  modified  same',
      'left (1)',
      '  deleted  "odd\\n"  [ci]',
    ]);
  });

  test('says "would be" for a dry run', () => {
    expect(report(view([planned('a', 'take')]), quiet)[0]).toBe('would be taken (1)');
    expect(report(view([planned('a', 'merge')], { branch: { name: 'b', commit: 'c' } }), quiet)[0]).toBe('merged (1)');
  });

  test('shows all three sides of a conflict and the other sandbox', () => {
    const paths = [
      planned('a.ts', 'conflict', { conflict: clash }),
      planned('b.ts', 'conflict', {
        sandbox: 'b',
        conflict: { ...clash, ours: null, theirs: file(7, 0o755), with: 'a' },
      }),
      planned('c.ts', 'conflict', { conflict: { ...clash, base: null, ours: null } }),
    ];
    expect(report(view(paths, { blocked: 'conflict' }), quiet)).toEqual([
      'conflicts (3)',
      '  modified  a  a.ts',
      '      both changed the same lines',
      '      base file 10 B, the project file 11 B, a file 12 B',
      '  modified  b  b.ts',
      '      both changed the same lines (with a)',
      '      base file 10 B, a deleted, b executable file 7 B',
      '  modified  a  c.ts',
      '      both changed the same lines',
      '      base absent, the project absent, a file 12 B',
    ]);
  });

  test('describes links, folders and deletions', () => {
    const link = { type: 'link', mode: 0, sizeBytes: 0, target: '../\u001b' } as const;
    expect(entryText(link, 'deleted')).toBe('link to "../\\033"');
    expect(entryText({ type: 'folder', mode: 0o755, sizeBytes: 0, target: null }, 'deleted')).toBe('folder');
    expect(entryText(null, 'deleted')).toBe('deleted');
  });

  test('lists commits and counts differences inside .git', () => {
    const commit = { sandbox: 'a', ref: 'refs/carrel/a/heads/main', commit: 'c', subject: 'x\u001b' };
    const commits = [
      { ...commit, ahead: 2 },
      { ...commit, ahead: 1 },
    ];
    expect(report(view([], { commits, hiddenInGit: 3 }), quiet)).toEqual([
      '3 more paths differ inside .git; commits travel by themselves',
      '2 commits on refs/carrel/a/heads/main (x\\u001b)',
      '1 commit on refs/carrel/a/heads/main (x\\u001b)',
    ]);
  });
});

describe('the conclusion', () => {
  test('counts the changes that were taken and names undo', () => {
    const taken = view([planned('a', 'take'), planned('b', 'markers', { conflict: clash })], { apply: '1' });
    expect(concluded('apply', { names: ['a'] }, taken)).toEqual({
      code: 0,
      stdout: 'took 2 changes of a\n1 file has conflict markers to resolve\ncarrel undo a takes it back\n',
      stderr: '',
    });
  });

  test('names the commit and the branch', () => {
    const branch = { name: 'work', commit: '0123456789abcdef' };
    const { stdout } = concluded('apply', { names: ['a'] }, view([planned('a', 'take')], { branch }));
    expect(stdout).toBe('took 1 change of a as commit 0123456789ab on branch work\n');
  });

  test('says if there are no changes, or nothing to take', () => {
    expect(concluded('apply', { names: ['a'] }, view([]))).toEqual({
      code: 0,
      stdout: '',
      stderr: 'a has no changes\n',
    });
    expect(concluded('apply', { names: ['a'], paths: ['x'] }, view([])).stderr).toBe('a has no changes there\n');
    expect(concluded('merge', { names: ['a', 'b'] }, view([])).stderr).toBe('a, b have no changes\n');
    expect(concluded('apply', { names: ['a'] }, view([planned('x', 'same')])).stderr).toBe(
      'there is nothing to take from a\n',
    );
  });

  test('has exit code 6 for conflicts, and a hint with all resolutions', () => {
    const paths = [
      planned('x', 'conflict', { conflict: clash }),
      planned('y', 'gated', { gates: ['ci', 'executable'] }),
    ];
    const request = { names: ['a'], paths: ['-x', 'a b'], allow: ['env' as const] };
    const { code, stderr, stdout } = concluded('apply', request, view(paths, { blocked: 'conflict' }));
    expect(code).toBe(6);
    expect(stdout).toBe('');
    expect(stderr).toBe(
      'carrel: nothing was changed: 1 conflict, 1 change not allowed\n' +
        "  hint: carrel apply a --allow env,ci,executable --theirs|--ours|--markers|--leave -- -x 'a b'\n" +
        '        (the agent’s, the project’s, both between markers, or all but these)\n',
    );
  });

  test('offers only the other resolutions if markers left conflicts', () => {
    const paths = [planned('x', 'conflict', { conflict: clash })];
    const request = { names: ['a'], resolution: 'markers' as const };
    expect(concluded('apply', request, view(paths, { blocked: 'conflict' })).stderr).toBe(
      'carrel: nothing was changed: 1 conflict\n' +
        '  hint: carrel apply a --theirs|--ours|--leave\n' +
        '        (the agent’s, the project’s, or all but these)\n',
    );
  });

  test('has exit code 4 for gates, and a hint that keeps the chosen options', () => {
    const paths = [planned('x', 'theirs', { conflict: clash }), planned('y', 'gated', { gates: ['executable'] })];
    const request = { names: ['a', 'b'], resolution: 'theirs' as const, dryRun: true };
    const { code, stderr } = concluded('merge', request, view(paths, { blocked: 'gated' }));
    expect(code).toBe(4);
    expect(stderr).toBe(
      'carrel: nothing would be changed: 1 change not allowed\n' +
        '  hint: carrel merge a b --theirs --allow executable\n',
    );
  });

  test('says "would" for a dry run', () => {
    const { code, stdout } = concluded('apply', { names: ['a'], dryRun: true }, view([planned('a', 'take')]));
    expect([code, stdout]).toEqual([0, 'would take 1 change of a\n']);
  });

  test('prints warnings to stderr', () => {
    const { stderr } = concluded('apply', { names: ['a'] }, view([planned('a', 'take')], { warnings: ['no\n'] }));
    expect(stderr).toBe('carrel: no\\n\n');
  });

  test('with --json is one document, with the failure as JSON on stderr', () => {
    const blocked = view([planned('x', 'gated', { gates: ['ci'] })], { blocked: 'gated', warnings: ['w'] });
    const { code, stdout, stderr } = concluded('apply', { names: ['a'] }, blocked, true);
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toEqual(blocked);
    expect(JSON.parse(stderr)).toMatchObject({ code: 'denied', hint: 'carrel apply a --allow ci' });
    expect(JSON.parse(concluded('apply', { names: ['a'] }, view([]), true).stdout)).toEqual(view([]));
  });
});

test('the forecast names the sandbox that changed each path', () => {
  const b = { sandbox: 'b' };
  const pathBase64 = Buffer.from([0xff]).toString('base64');
  const paths = [
    planned('mine', 'take'),
    planned('mine-too', 'merge', b),
    planned('both', 'take'),
    planned('both', 'merge', b),
    planned('fight', 'take'),
    planned('fight', 'conflict', { ...b, conflict: { ...clash, with: 'a' } }),
    planned('\ufffd', 'take', { pathBase64 }),
    planned('\ufffd', 'take', b),
  ];
  expect(forecast(view(paths), quiet)).toEqual([
    'only one touched (3)',
    '  modified  a  mine',
    '  modified  a  "\\377"',
    '  modified  b  \ufffd',
    'only one touched, merge with the project (1)',
    '  modified  b  mine-too',
    'several touched, merge cleanly (2)',
    '  modified  a  both',
    '  modified  b  both',
    'several touched, others conflict with these (1)',
    '  modified  a  fight',
    'conflicts (1)',
    '  modified  b  fight',
    '      both changed the same lines (with a)',
    '      base file 10 B, a file 11 B, b file 12 B',
  ]);
});

test('gates that are always allowed are listed, with the command that ends this', () => {
  const { stderr } = concluded('merge', { names: ['a', 'b'] }, view([], { always: ['ci', 'executable'] }));
  expect(stderr).toMatch(
    'always allowed in this project: ci, executable (carrel merge a b --ask ci,executable ends that)\n',
  );
  const paths = [planned('x', 'gated', { gates: ['ci', 'env'] })];
  const request = { names: ['a'], allow: ['editor' as const], always: true };
  const again = concluded('apply', request, view(paths, { blocked: 'gated', always: ['ci'] }));
  expect(again.stderr).toContain('carrel apply a --allow editor,env --always\n');
});
