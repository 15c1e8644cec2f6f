import { expect, it } from 'vitest';
import { Fault } from '../model/fault.ts';
import { commands } from './commands.ts';
import { asGiven } from './given.ts';

function told(command: string, field: string): Fault {
  const entry = commands.find(({ name }) => name === command)!;
  return asGiven(new Fault('invalid', `${field}: is wrong`, { data: { field } }), entry);
}

it.each([
  ['create', 'limits.memoryBytes', '--memory'],
  ['create', 'body.labels.name', '--label'],
  ['create', 'body.volumes.0.target', '--volume'],
  ['create', 'body.network', '--network'],
  ['create', 'body.command.0', 'the command'],
  ['create', 'body.project', 'PROJECT'],
  ['exec', 'request.cwd', '--cwd'],
  ['stop', 'body.graceMs', '--grace'],
  ['snapshot', 'body.label', 'LABEL'],
  ['apply', 'body.paths.0', 'PATH'],
  ['apply', 'body.author.name', 'the author'],
  ['port add', 'body.hostAddress', '--address'],
  ['volume restore', 'body.file', 'FILE'],
  ['swarm run', 'body.sandbox.limits.cpus', '--cpus'],
  ['swarm stop', 'body.names.0', 'NAME'],
  ['swarm add', 'body.containerId', 'ID'],
  ['swarm add', 'body.containerName', 'NAME'],
  ['swarm add', 'body.taskFilePath', 'TASK-FILE'],
  ['swarm add', 'body.branchName', 'BRANCH'],
  ['swarm update', 'body.prUrl', '--pr-url'],
  ['swarm update', 'body.storyProgress.total', '--story-progress'],
  ['task mark', 'body.notes', '--notes'],
])('%s: %s is %s', (command, field, name) => {
  expect(told(command, field).toJSON()).toEqual({
    ...{ code: 'invalid', message: `${name}: is wrong`, hint: `carrel help ${command}` },
  });
});

it('is as it was where the command has no such thing, or the refusal names none', () => {
  expect(told('ls', 'body.name').message).toBe('body.name: is wrong');
  const other = new Fault('invalid', 'no good', { hint: 'another' });
  expect(asGiven(other, commands[0]!)).toBe(other);
});
