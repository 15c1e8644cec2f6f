import { expect, it } from 'vitest';
import { closure, parsePackages } from './package.ts';

const record = (name: string, more: string[] = [], status = 'install ok installed') =>
  [`Package: ${name}`, `Status: ${status}`, 'Architecture: amd64', 'Version: 1.0-1', ...more].join('\n');

const status = [
  record('bash', ['Essential: yes', 'Pre-Depends: libc6 (>= 2.36), libtinfo6']),
  record('libc6', ['Depends: libgcc-s1']),
  record('libgcc-s1', ['Depends: libc6 (>= 2.35)']),
  record('libtinfo6'),
  record('git', ['Depends: perl:any, mail-agent | missing | ssmtp, not-there', 'Description: x', ' Depends: evil']),
  record('perl'),
  record('exim', ['Provides: mail-agent (= 4), smtp']),
  record('ssmtp'),
  record('gone', [], 'deinstall ok config-files'),
  record('../../etc', []),
  record('other'),
].join('\n\n');

it('parsePackages returns the installed packages with their dependencies', () => {
  const packages = parsePackages(status);
  expect([...packages.keys()]).toEqual([
    'bash',
    'libc6',
    'libgcc-s1',
    'libtinfo6',
    'git',
    'perl',
    'exim',
    'ssmtp',
    'other',
  ]);
  expect(packages.get('bash')).toMatchObject({ essential: true, version: '1.0-1', architecture: 'amd64' });
  expect(packages.get('git')!.needs).toEqual([['perl'], ['mail-agent', 'missing', 'ssmtp'], ['not-there']]);
});

it('closure finds all dependencies, also circular and virtual ones', () => {
  const names = (...roots: string[]) => closure(parsePackages(status), roots).map(({ name }) => name);
  expect(names('bash')).toEqual(['bash', 'libc6', 'libgcc-s1', 'libtinfo6']);
  expect(names('git', 'nothing')).toEqual(['exim', 'git', 'perl']);
  expect(names()).toEqual([]);
});
