import { expect, it } from 'vitest';
import { parseOldName } from './old-volume.ts';

it.each([
  ['carrel-home', { label: null, type: 'home', hash: null, into: '' }],
  ['carrel-memory-bank', { label: null, type: 'memory-bank', hash: null, into: '' }],
  ['hal9000-claude-home-a1b2c3d4', { label: null, type: 'home', hash: 'a1b2c3d4', into: '.claude' }],
  ['hal9000-claude-session-a1b2c3d4', { label: null, type: 'session', hash: 'a1b2c3d4', into: '' }],
  ['hal9000-memory-bank', { label: null, type: 'memory-bank', hash: null, into: '' }],
  ['hal9000-tmux-sockets-a1b2c3d4', { label: null, type: 'tmux-sockets', hash: 'a1b2c3d4', into: '' }],
  ['hal9000-coordinator-state-00000000', { label: null, type: 'coordinator-state', hash: '00000000', into: '' }],
  ['hal9000-chromadb', { label: null, type: 'chromadb', hash: null, into: '' }],
  ['hal9000-memorybank', { label: null, type: 'memory-bank', hash: null, into: '' }],
  ['hal9000-claude-my-worker', { type: 'named', label: 'claude-my-worker', hash: null, into: '' }],
  ['hal9000-claude-worker-1234567890', { type: 'named', label: 'claude-worker-1234567890', hash: null, into: '' }],
  ['hal9000-claude-My_Worker.2', { type: 'named', label: 'claude-my-worker-2', hash: null, into: '' }],
  ['hal9000-claude-home', { label: null, type: 'home', hash: null, into: '.claude' }],
  ['hal9000-base-plugins', { label: null, type: 'base-plugins', hash: null, into: '' }],
])('%s is an old volume', (name, parsed) => {
  expect(parseOldName(name, 'carrel')).toEqual(parsed);
});

it.each([
  'carrel-home-a1b2c3d4',
  'carrel-base-plugins',
  'carrel-chromadb',
  'hal9000-chromadb-a1b2c3d4',
  'hal9000-claude-',
  'hal9000-constructor',
  'hal9000-',
  'other-home',
])('%s is not an old volume', (name) => {
  expect(parseOldName(name, 'carrel')).toBeNull();
});

it('volumes of another prefix are old volumes', () => {
  expect(parseOldName('carrel-home-a1b2c3d4', 'lab')).toEqual({
    label: null,
    type: 'home',
    hash: 'a1b2c3d4',
    into: '',
  });
  expect(parseOldName('carrel-chromadb', 'lab')).toEqual({ label: null, type: 'chromadb', hash: null, into: '' });
  expect(parseOldName('lab-home-a1b2c3d4', 'lab')).toBeNull();
  expect(parseOldName('hal9000-home-a1b2c3d4', 'hal9000')).toBeNull();
});
