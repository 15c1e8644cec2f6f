/** Notes for this process and those that it starts that a stage of the run begins now; see test/stage-times.ts. */
export function beginStage(name) {
  const before = process.env.CARREL_TEST_STAGES;
  const stage = `${name}=${Math.floor(Date.now() / 1000)}`;
  process.env.CARREL_TEST_STAGES = before ? `${before},${stage}` : stage;
}
