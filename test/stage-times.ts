/**
 * The stages of a run with their times. CARREL_TEST_STAGES has each stage and the second in which it began, as in
 * `build=1700000000,lint=1700000004`; a stage ends when the next one begins. `.ci/run`, `scripts/stages.mjs`
 * and `scripts/test.mjs` add theirs.
 */
export function stageTimes(stages: string, nowMs: number): string {
  const begun = stages.split(',').map((stage) => {
    const at = stage.lastIndexOf('=');
    return { name: stage.slice(0, at), second: Number(stage.slice(at + 1)) };
  });
  const end = Math.floor(nowMs / 1000);
  const times = begun.map(({ name, second }, at) => `${name} ${timeText((begun[at + 1]?.second ?? end) - second)}`);
  return `${times.join(', ')}; in all ${timeText(end - begun[0]!.second)}`;
}

function timeText(seconds: number): string {
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  return minutes === 0 ? `${rest} s` : `${minutes} min ${rest} s`;
}
