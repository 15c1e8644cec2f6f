/** An image to build others on: a static busybox, and fake programs that print their own name. */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../src/lib/process/run.ts';
import type { Dockerd } from './dockerd.ts';

const applets =
  'sh cat chmod chown cp echo env false grep id ls mkdir mv nc printf rm sleep stat test touch true wget head ip mount'.split(
    ' ',
  );
const named = ['bash', 'git', 'node', 'npm', 'python3', 'pip3', 'rg', 'cargo', 'go'];

/** `lacks` are left out of the programs that a base needs. */
export async function importParent(dockerd: Dockerd, name: string, lacks: readonly string[] = []): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-parent-'));
  try {
    const root = join(folder, 'root');
    for (const path of ['bin', 'etc/ssl/certs', 'tmp']) mkdirSync(join(root, path), { recursive: true });
    chmodSync(join(root, 'tmp'), 0o1777);
    copyFileSync('/bin/busybox', join(root, 'bin/busybox'));
    for (const applet of applets) symlinkSync('busybox', join(root, 'bin', applet));
    for (const program of named.filter((one) => !lacks.includes(one))) {
      writeFileSync(join(root, 'bin', program), `#!/bin/sh\necho "${program} $*"\n`, { mode: 0o755 });
    }
    writeFileSync(join(root, 'etc/ssl/certs/ca-certificates.crt'), '');
    writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nsomebody:x:1000:1000::/:/bin/sh\n');
    const archive = join(folder, 'root.tar');
    const { exitCode, stderr } = await run(['tar', '-C', root, '-cf', archive, '.']);
    if (exitCode !== 0) throw new Error(stderr);
    await dockerd.docker('import', archive, name);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
