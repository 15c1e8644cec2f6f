import { describe, expect, it } from 'vitest';
import { isSameFolder } from '../../model/mount.ts';
import { checkTarget, parseConsumerRequest, parseShareRequest } from './model.ts';

describe('consumers', () => {
  it.each([
    ['web=/data', { kind: 'sandbox', name: 'web', path: '/data', readonly: false, uid: null }],
    ['sandbox:web=/data:ro', { kind: 'sandbox', name: 'web', path: '/data', readonly: true, uid: null }],
    ['project:shop=/in', { kind: 'project', name: 'shop', path: '/in', readonly: false, uid: null }],
    ['docker:a_B.1=/app/x=y', { kind: 'docker', name: 'a_B.1', path: '/app/x=y', readonly: false, uid: null }],
    ['docker:web@1000=/app:ro', { kind: 'docker', name: 'web', path: '/app', readonly: true, uid: 1000 }],
    ['lxc:100=/mnt/in', { kind: 'lxc', name: '100', path: '/mnt/in', readonly: false, uid: null }],
    ['person:ann', { kind: 'person', name: 'ann', path: null, readonly: false, uid: null }],
    ['person:ann:ro', { kind: 'person', name: 'ann', path: null, readonly: true, uid: null }],
  ])('%s is understood', (text, expected) => {
    expect(parseConsumerRequest(text)).toEqual(expected);
  });

  it.each([
    'web',
    'web=',
    'web=data',
    'web=/',
    'web=/a/../b',
    'web=/a//b',
    'web=/a\nb',
    '=/data',
    'vm:web=/data',
    'docker:=/x',
    'docker:a b=/x',
    'docker:-v=/x',
    'web@1000=/data',
    'person:ann=/home/ann/in',
    'person:../x',
    'lxc:100@x=/in',
  ])('%j is refused', (text) => {
    expect(() => parseConsumerRequest(text)).toThrow();
  });
});

describe('--share', () => {
  it.each([
    ['inbox', { share: 'inbox' }],
    ['inbox:ro', { share: 'inbox', readonly: true }],
    ['inbox:/in', { share: 'inbox', target: '/in' }],
    ['inbox:/in:ro', { share: 'inbox', target: '/in', readonly: true }],
  ])('%s is understood', (text, expected) => {
    expect(parseShareRequest(text)).toEqual(expected);
  });

  it.each(['', 'Inbox', '-x', '/srv/inbox', 'inbox:', 'inbox:in', 'inbox:/in/../etc'])('%j is refused', (text) => {
    expect(() => parseShareRequest(text)).toThrow();
  });

  it.each([
    '/',
    '/etc',
    '/etc/x',
    '/home/agent/in',
    '/workspace/in',
    '/tmp/in',
    '/proc/1',
    '/.data/x',
    '/rooms/x',
    '/opt',
    '/run/x',
  ])('no share is mounted at %s', (target) => {
    expect(() => checkTarget(target)).toThrow('no share can be mounted');
  });

  it('a share can be mounted outside of reserved folders', () => {
    expect(['/shares/x', '/data/inbox', '/mnt/a', '/opt/tool'].map(checkTarget)).toHaveLength(4);
  });
});

it('a folder is the same if its inode and, within one boot, its device are the same', () => {
  const folder = { device: '1', inode: '2', bootId: 'a' };
  expect(isSameFolder(folder, { ...folder })).toBe(true);
  expect(isSameFolder(folder, { ...folder, inode: '3' })).toBe(false);
  expect(isSameFolder(folder, { ...folder, device: '9' })).toBe(false);
  expect(isSameFolder(folder, { ...folder, device: '9', bootId: 'b' })).toBe(true);
});
