const steps: readonly (readonly [limit: number, seconds: number, unit: string])[] = [
  [60, 1, 's'],
  [3600, 60, 'm'],
  [48 * 3600, 3600, 'h'],
  [Number.POSITIVE_INFINITY, 86_400, 'd'],
];

/** Seconds as one short number: 42s, 3m, 5h, 12d. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [, size, unit] = steps.find(([limit]) => whole < limit)!;
  return `${Math.floor(whole / size)}${unit}`;
}

/** How long ago a moment was. */
export function age(at: string, now: number = Date.now()): string {
  const then = Date.parse(at);
  return Number.isNaN(then) ? '-' : duration((now - then) / 1000);
}
