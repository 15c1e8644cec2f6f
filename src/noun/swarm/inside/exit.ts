import type { Completion } from '../model/message.ts';

const codes: { readonly [status in Completion['status']]: number } = { completed: 0, failed: 1, stopped: 130 };

export function exitCodeOf(status: Completion['status']): number {
  return codes[status];
}
