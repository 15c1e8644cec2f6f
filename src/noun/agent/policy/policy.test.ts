import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { table } from '../../cli.ts';
import { decide, decideText } from './decide.ts';
import { defaultRules } from './defaults.ts';

const groups = table.groups.map(({ name }) => name);
let root: string;
let cwd: string;
const file = '.carrel/tasks/2026-01-31-login-tasks.json';

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'carrel-policy-')));
  cwd = join(root, 'project');
  mkdirSync(join(cwd, '.carrel/tasks'), { recursive: true });
  mkdirSync(join(cwd, 'sub'));
  writeFileSync(join(cwd, file), '{}');
  mkdirSync(join(cwd, 'declared'));
  writeFileSync(join(cwd, 'declared/carrel.yaml'), 'network: [collector.example]\n');
  symlinkSync('/etc', join(cwd, 'etc'));
  symlinkSync(cwd, join(root, 'link'));
});
afterAll(() => rmSync(root, { recursive: true }));

function on(text: string) {
  return decideText(text, [], { cwd, programs: ['/opt/carrel/bin/carrel'], groups });
}

describe('the policy allows', () => {
  test.each(
    [
      ...['carrel status', 'carrel --json ls', 'carrel ls --json', 'carrel show box', 'carrel logs box --tail 5'],
      ...[
        '/opt/carrel/bin/carrel ls',
        "'carrel' 'ls'",
        'carrel diff box',
        'carrel create',
        'carrel create --name b sub',
      ],
      ...[
        'carrel create --memory 2g --cpus=1.5 .',
        'carrel create --mode clone',
        'carrel stop --grace 1 a b',
        'carrel rm a',
      ],
      ...['carrel exec box -- /opt/carrel/bin/carrel-adapter', 'carrel exec -i box -- /opt/carrel/bin/carrel-adapter'],
      ...[
        `carrel task mark ${file} US-001 failed --notes 'it $(broke)'`,
        `carrel task validate ${file}`,
        'carrel task list',
      ],
      ...[
        `carrel swarm run --file ${file}`,
        `carrel swarm run --files ${file},${file} --max 4`,
        'carrel swarm run --all',
      ],
      ...[
        'carrel swarm run --agent claude --engine docker',
        'carrel swarm status',
        'carrel swarm stop',
        'carrel swarm ls',
        'carrel swarm list',
        'carrel list',
        'carrel remove a',
      ],
      ...['carrel swarm add 0123456789ab box .aimi/tasks/x.json feat/x', 'carrel swarm update box --status running'],
      ...[
        'carrel swarm export',
        'carrel swarm cleanup',
        'carrel swarm clean',
        'carrel swarm remove box',
        'carrel image build --offline .',
        'carrel image build sub/new --offline',
        'carrel image ls',
      ],
    ].map((text) => [text]),
  )('%s', (text) => {
    expect(on(text)).toMatchObject({ decision: 'allow', rule: expect.stringMatching(/^carrel /) });
  });

  test('an absolute path through a symlink to the working folder', () => {
    const through = join(root, 'link');
    const context = { cwd: through, programs: [], groups };
    expect(decide(['carrel', 'task', 'list', join(through, 'sub')], [], context).decision).toBe('allow');
    expect(decide(['carrel', 'task', 'list', join(cwd, 'sub')], [], context).decision).toBe('allow');
  });
});

describe('the policy asks for', () => {
  test.each(
    [
      ...[
        '',
        'ls',
        'rm -rf /',
        'bash -c ls',
        'sudo carrel ls',
        './carrel ls',
        '/tmp/carrel ls',
        'env carrel ls',
        'Carrel ls',
      ],
      ...['carrel', 'carrel apply box', 'carrel run -- ls', 'carrel shell box', 'carrel cp a b:c', 'carrel down --all'],
      ...['carrel secret set A', 'carrel user add a', 'carrel rm --force a', 'carrel rm -f a', 'carrel ls --all-users'],
      ...['carrel --home /tmp/x ls', 'carrel --user ann ls', 'carrel --json --home /tmp ls', 'carrel ls --home=/tmp/x'],
      ...[
        'carrel create --mode bind',
        'carrel create --network none',
        'carrel create --secret A',
        'carrel create --volume a:/b',
      ],
      ...[
        'carrel create --rootfs /',
        'carrel create --env A=b',
        'carrel create --image x',
        'carrel create -- ls',
        'carrel create ..',
        'carrel create declared',
        'carrel swarm run --project declared',
        'carrel swarm run --project=declared',
        'carrel image build .',
        'carrel trust',
        'carrel trust .',
      ],
      ...['carrel exec box', 'carrel exec box -- sh', 'carrel exec -it box -- /opt/carrel/bin/carrel-adapter'],
      ...[
        "carrel exec box -- /opt/carrel/bin/carrel-adapter '{}'",
        'carrel exec box -- /opt/carrel/bin/carrel-adapter; ls',
      ],
      ...[
        'carrel exec -i box -- /opt/carrel/bin/../bin/sh',
        'carrel exec --env A=b box -- /opt/carrel/bin/carrel-adapter',
      ],
      ...[
        'carrel show',
        'carrel show a b',
        'carrel show ../x',
        'carrel show --',
        'carrel ls -- ls',
        'carrel logs box --tail',
      ],
      ...['carrel logs box --tail -1', 'carrel logs box --tail=', 'carrel stop', 'carrel ls --size=1', 'carrel ls -- '],
      ...[
        'carrel image build ..',
        'carrel image build /',
        'carrel image build /etc',
        'carrel image build etc',
        'carrel image build etc/x',
      ],
      ...[
        'carrel image build sub/../..',
        "carrel image build ''",
        'carrel image build --file x',
        'carrel image build -t x',
      ],
      ...[
        'carrel swarm run --pr',
        'carrel swarm init --force',
        'carrel swarm run --file /etc/passwd',
        'carrel swarm run --files a,/b',
      ],
      ...[
        'carrel swarm add 0123 box x.json feat',
        'carrel swarm update box --status done',
        'carrel task mark a US-1 failed',
      ],
      ...[
        'carrel ls && rm -rf /',
        'carrel ls; ls',
        'carrel ls | sh',
        'carrel ls > x',
        'carrel ls\nls',
        'X=1 carrel ls',
        'carrel $(ls)',
      ],
      ...[
        'carrel task list ~',
        'carrel task list *',
        'carrel task list "$HOME"',
        'carrel task list {a,b}',
        'carrel ls &',
        'carrel ls #x',
      ],
      ...[
        'time carrel ls',
        '! carrel ls',
        'carrel __names',
        'carrel __complete bash -- ls',
        'carrel show constructor --toString',
        'carrel ls --toString',
      ],
    ].map((text) => [text]),
  )('%s', (text) => {
    expect(on(text).decision).toBe('ask');
  });

  test('a path, if the working folder is /, missing or relative', () => {
    for (const odd of ['/', '/nowhere', 'relative']) {
      expect(decide(['carrel', 'image', 'build', 'etc'], [], { cwd: odd, programs: [], groups }).decision).toBe('ask');
    }
  });
});

test('every default rule names an existing command and existing flags', () => {
  const missing = defaultRules.filter(({ words }) => !table.commands.some(({ name }) => name === words.join(' ')));
  expect(missing).toEqual([]);
  for (const { words, flags = {}, command } of defaultRules) {
    const entry = table.commands.find(({ name }) => name === words.join(' '));
    if (!entry) continue;
    const known = (entry.options ?? []).flatMap(({ flags: text }) =>
      text.split(', ').map((one) => [one.split(' ')[0]!, text.includes('<')] as const),
    );
    for (const [flag, kind] of Object.entries(flags)) expect(known).toContainEqual([flag, kind !== null]);
    if (command) expect(entry.takesCommand).toBe(true);
  }
});

test('the policy asks for a swarm run in a folder with a carrel.yaml, and allows its status', () => {
  const decide = (command: string) => decideText(command, [], { cwd: join(cwd, 'declared'), programs: [], groups });
  expect(decide('carrel swarm run --all')).toMatchObject({
    decision: 'ask',
    reason: 'the working folder has a carrel.yaml, which may grant the sandbox more',
  });
  expect(decide('carrel swarm status').decision).toBe('allow');
});
