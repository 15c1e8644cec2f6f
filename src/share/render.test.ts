import { describe, expect, it } from 'vitest';
import { parseConsumerRequest, type Share } from '../model/share.ts';
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
  it('names the mount and the group, and no group where a uid is named', () => {
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
      '  - "/srv/in:/app/rooms"',
    ]);
  });
});

it('refuses a share without a consumer of that kind, and says how to add one', () => {
  expect(() => render(shareOf('/srv/in', 'box=/in'), 'compose', () => [])).toThrow('has no consumer docker:NAME');
});
