/**
 * The notice that the daemon is older than the command. The owner's commands read the build in the home; others send
 * their own.
 */
import type { Context as HonoContext } from 'hono';
import { z } from 'zod';
import type { Build } from '../../lib/file/package.ts';
import { olderThan } from '../../lib/flow/build-age.ts';
import { validated } from '../../lib/schema/validated.ts';
import { clientHeader } from '../../lib/wire/api.ts';

const text = z.string().max(100);
const buildShape = z.strictObject({ version: text, build: text, builtAt: text });

export function olderNotice(build: Build | null, context: HonoContext): string | null {
  const said = context.req.header(clientHeader);
  if (said === undefined || build === null) return null;
  try {
    const older = olderThan(build, validated(buildShape, JSON.parse(decodeURIComponent(said)), clientHeader));
    return older && `${older}; its owner restarts it with: carrel down`;
  } catch {
    // The header is not a build, ignoring: it is used only for a notice.
    return null;
  }
}
