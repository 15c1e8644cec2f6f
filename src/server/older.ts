/** Whether the daemon is older than the command that asks. The owner's commands read that from the home; others send their build. */
import type { Context as HonoContext } from 'hono';
import { z } from 'zod';
import { clientHeader } from '../api/api.ts';
import { validated } from '../api/validated.ts';
import { olderThan } from '../lib/build-age.ts';
import type { Build } from '../lib/package.ts';

const text = z.string().max(100);
const buildShape = z.strictObject({ version: text, build: text, builtAt: text });

export function olderNotice(build: Build | null, context: HonoContext): string | null {
  const said = context.req.header(clientHeader);
  if (said === undefined || build === null) return null;
  try {
    const older = olderThan(build, validated(buildShape, JSON.parse(decodeURIComponent(said)), clientHeader));
    return older && `${older}; its owner restarts it with: carrel down`;
  } catch {
    // Not a build, ignoring: it is used for a notice alone.
    return null;
  }
}
