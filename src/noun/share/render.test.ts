import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConsumerRequest, type Share } from './model.ts';
import { render } from './render.ts';

function shareOf(folder: string, ...consumers: string[]): Share {
  return {
    ...{ name: 'inbox', folder, groupId: 70_000, createdAt: '' },
    identity: { device: '1', inode: '2', bootId: '' },
    consumers: consumers.map((text) => {
      const request = parseConsumerRequest(text);
      return { ...request, path: request.path ?? folder };
    }),
  };
}

const lines = (share: Share, form: Parameters<typeof render>[1], taken: number[] = []) =>
  render(share, form, () => taken).split('\n');

describe('docker', () => {
  it('names the mount and the group, but no group if the consumer has a uid', () => {
    const share = shareOf('/srv/in', 'docker:web=/app/in', 'docker:other@1000=/in:ro', 'box=/x');
    expect(lines(share, 'docker')).toEqual(['-v /srv/in:/app/in --group-add 70000', '-v /srv/in:/in:ro']);
  });

  it('quotes for the shell, and uses --mount for paths with a colon', () => {
    expect(lines(shareOf("/srv/it's $x", 'docker:web@1=/in'), 'docker')).toEqual([`-v '/srv/it'\\''s $x:/in'`]);
    expect(lines(shareOf('/srv/a:b,"c', 'docker:web@1=/in:ro'), 'docker')).toEqual([
      `--mount 'type=bind,"source=/srv/a:b,""c",target=/in,readonly'`,
    ]);
  });
});

describe('lxc', () => {
  it('uses the first free mount point of a guest of Proxmox', () => {
    const share = shareOf('/mnt/aim-shared', 'lxc:100=/mnt/aim-shared', 'lxc:101=/in:ro');
    expect(lines(share, 'lxc', [0, 2])).toEqual([
      'pct set 100 -mp1 /mnt/aim-shared,mp=/mnt/aim-shared',
      'pct set 101 -mp1 /mnt/aim-shared,mp=/in,ro=1',
    ]);
  });

  it('writes a line of settings for a guest of plain LXC', () => {
    expect(lines(shareOf('/srv/my in', 'lxc:box=/data/in:ro'), 'lxc')).toEqual([
      'lxc.mount.entry = /srv/my\\040in data/in none bind,create=dir,ro 0 0',
    ]);
  });

  it('refuses a path that the settings of Proxmox cannot hold', () => {
    expect(() => lines(shareOf('/srv/a,b', 'lxc:100=/in'), 'lxc')).toThrow('cannot be written in the settings');
  });
});

describe('coolify', () => {
  it('prints the two paths and a line for a compose file, and asks for the uid of a container', () => {
    expect(lines(shareOf('/srv/in', 'docker:app=/app/rooms'), 'coolify')).toEqual([
      '# docker:app: Persistent Storage, Directory Mount',
      '# Source Path: /srv/in',
      '# Destination Path: /app/rooms',
      '# if it does not run as root, name its uid: --at docker:app@UID=/app/rooms',
      '# or in its compose file:',
      'volumes:',
      '  - type: bind',
      '    source: "/srv/in"',
      '    target: "/app/rooms"',
      '    read_only: false',
    ]);
  });
});

/** Each line, read back by the syntax that its program documents. */
describe.each([
  ['/srv/in', '/app/in'],
  ['/srv/my folder', '/in here'],
  ['/srv/it\'s $HOME `x` \\ "q"', '/a$b'],
  ['/srv/colon:ro', '/c:d'],
  ['/srv/äöü # !x', '/é'],
])('the output for the folder %s at %s', (folder, path) => {
  const share = (...consumers: string[]) => shareOf(folder, ...consumers);

  it.each([false, true])('is what pct reads: set VMID -mpN VOLUME,mp=PATH[,ro=1], read-only: %s', (readonly) => {
    const argv = shellWords(render(share(`lxc:100=${path}${readonly ? ':ro' : ''}`), 'lxc', () => []));
    const [volume, ...options] = argv[4]!.split(',');
    expect(argv.slice(0, 4)).toEqual(['pct', 'set', '100', '-mp0']);
    expect([volume, ...options]).toEqual([folder, `mp=${path}`, ...(readonly ? ['ro=1'] : [])]);
  });

  it.each([false, true])('is what lxc.mount.entry reads: six fields of fstab, read-only: %s', (readonly) => {
    const line = render(share(`lxc:box=${path}${readonly ? ':ro' : ''}`), 'lxc', () => []);
    const [, entry] = /^lxc\.mount\.entry = (.*)$/.exec(line)!;
    const fields = entry!.split(/[ \t]+/).map((field) => field.replaceAll(/\\([0-7]{3})/g, fromOctal));
    const options = ['bind', 'create=dir', ...(readonly ? ['ro'] : [])].join(',');
    expect(fields).toEqual([folder, path.slice(1), 'none', options, '0', '0']);
  });

  it.each(['coolify', 'compose'] as const)('is what Compose reads: a volume of type bind, for %s', (form) => {
    const document = parse(render(share(`docker:web@1=${path}:ro`), form, () => []));
    const { volumes } = form === 'coolify' ? document : document.services.web;
    expect(volumes.map(interpolated)).toEqual([{ type: 'bind', source: folder, target: path, read_only: true }]);
  });

  it('is what docker run reads: -v SOURCE:TARGET[:ro], or the fields of --mount', () => {
    const [option, value] = shellWords(render(share(`docker:web@1=${path}:ro`), 'docker', () => []));
    const isPlain = !`${folder}${path}`.includes(':');
    expect([option, value]).toEqual(
      isPlain ? ['-v', `${folder}:${path}:ro`] : ['--mount', `type=bind,source=${folder},target=${path},readonly`],
    );
  });
});

/** Splits a line as a shell does: text between single quotes is literal. */
function shellWords(line: string): string[] {
  const words = line.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? [];
  return words.map((word) => word.replaceAll(/'([^']*)'|\\(.)/g, (_, quoted, escaped) => quoted ?? escaped));
}

function fromOctal(_: string, digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 8));
}

function interpolated(volume: Record<string, unknown>): object {
  const text = (value: unknown) => (typeof value === 'string' ? value.replaceAll('$$', '$') : value);
  return Object.fromEntries(Object.entries(volume).map(([key, value]) => [key, text(value)]));
}

it('render refuses a share without a consumer of that kind, and says how to add one', () => {
  expect(() => render(shareOf('/srv/in', 'box=/in'), 'compose', () => [])).toThrow('has no consumer docker:NAME');
});
