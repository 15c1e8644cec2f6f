import type { Sandbox } from '../../sandbox/model.ts';
import type { LiveSessions } from './live-sessions.ts';

/** The only session of a sandbox that has a turn; null: none has one, or several have. */
export async function activeSession(
  sessions: Pick<LiveSessions, 'has' | 'of'>,
  sandbox: Sandbox,
): Promise<string | null> {
  if (!sessions.has(sandbox)) return null;
  const active = (await sessions.of(sandbox)).copies.list().filter(({ fold }) => fold.turns.length > 0);
  return active.length === 1 ? active[0]!.id : null;
}
