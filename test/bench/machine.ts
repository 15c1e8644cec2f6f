/** Facts without which times mean little. */
import { existsSync, readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { isInstalled, output } from './program.ts';

const versioned = ['crun', 'runc', 'conmon', 'bwrap', 'docker', 'dockerd', 'git', 'rg', 'fuse-overlayfs'] as const;

export async function machineFacts(): Promise<Record<string, string | number>> {
  const versions = await Promise.all(versioned.map(async (name) => [name, await versionOf(name)] as const));
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryMb: Math.round(totalmem() / 1024 ** 2),
    kernel: release(),
    cgroups: existsSync('/sys/fs/cgroup/cgroup.controllers') ? 2 : 1,
    uid: process.getuid?.() ?? 0,
    node: process.version,
    carrel: (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version,
    ...Object.fromEntries(versions),
    load: loadavg()[0]!,
  };
}

async function versionOf(program: string): Promise<string> {
  if (!isInstalled(program)) return 'not installed';
  return (await output([program, '--version'])).split('\n')[0]!;
}
