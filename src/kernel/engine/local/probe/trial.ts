/** Facts that only a trial can tell, tried in a temporary folder in the daemon's private mount namespace. */
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bindMount, detachMount, mount, mountFlags } from '../../../../lib/sys/sys-mount.ts';
import type { ProbeRow } from '../../engine.ts';
import { ok, warning } from '../../probe-row.ts';
import { ownerNamespace } from '../stage/owner-namespace.ts';

/** Runs the trials in a folder below `parent`, which is on the disk that sandboxes use. */
export async function trialRows(parent: string, rootless: boolean): Promise<ProbeRow[]> {
  const folder = mkdtempSync(join(parent, 'trial-'));
  try {
    return [overlayRow(folder), rootless ? ownersNotNeeded() : await ownersRow(folder)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function overlayRow(folder: string): ProbeRow {
  const [lower, upper, work, merged] = ['lower', 'upper', 'work', 'merged'].map((name) => made(folder, name));
  try {
    mount('overlay', merged!, 'overlay', mountFlags.nosuid | mountFlags.nodev, overlayOptions(lower!, upper!, work!));
    writeFileSync(join(merged!, 'file'), '');
    const kept = existsSync(join(upper!, 'file')) && !existsSync(join(lower!, 'file'));
    return kept
      ? ok('overlay', 'a trial mount works')
      : noOverlay('a file written to a trial mount is in the wrong layer');
  } catch (error) {
    return noOverlay((error as Error).message);
  } finally {
    detachMount(merged!);
  }
}

function overlayOptions(lower: string, upper: string, work: string): string {
  const escaped = (path: string) => path.replace(/[\\:,]/g, '\\$&');
  return `lowerdir=${escaped(lower)},upperdir=${escaped(upper)},workdir=${escaped(work)}`;
}

function noOverlay(reason: string): ProbeRow {
  return warning(
    'overlay',
    `a trial mount fails: ${reason}`,
    'Load the overlay module (as root: modprobe overlay); as an ordinary user it needs Linux 5.11. Without it working copies are whole copies, and --rootfs does not work.',
  );
}

async function ownersRow(folder: string): Promise<ProbeRow> {
  const [source, target] = [made(folder, 'source'), made(folder, 'target')];
  const shiftedId = 12_345;
  const fd = openSync(source, 'r');
  try {
    const { uid, gid } = statSync(source);
    bindMount(fd, target, {
      readonly: false,
      ownersFd: await ownerNamespace({ uid, gid }, { uid: shiftedId, gid: shiftedId }),
    });
    if (statSync(target).uid !== shiftedId) return noOwners('the owner stayed the same');
    return ok('idmapped-mounts', 'owners of a bound project are shifted');
  } catch (error) {
    return noOwners((error as Error).message);
  } finally {
    detachMount(target);
    closeSync(fd);
  }
}

function noOwners(reason: string): ProbeRow {
  return warning(
    'idmapped-mounts',
    `a trial mount fails: ${reason}`,
    'Use Linux 5.12 or newer and a filesystem that knows them. Without them --mode bind does not work as root.',
  );
}

function ownersNotNeeded(): ProbeRow {
  return ok('idmapped-mounts', 'not needed: agent is the account that runs the daemon');
}

function made(folder: string, name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}
