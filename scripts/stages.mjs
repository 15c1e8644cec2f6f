// npm test [-- vitest arguments]: build, lint and tests, each only if the one before succeeded. The run prints their times at
// its end.
import { spawnSync } from 'node:child_process';
import { beginStage } from './stage.mjs';

beginStage('build');
run('npm', ['run', 'build']);
beginStage('lint');
run('npm', ['run', 'lint']);
run(process.execPath, ['scripts/test.mjs', ...process.argv.slice(2)]);

function run(program, args) {
  const { status, signal, error } = spawnSync(program, args, { stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? (signal ? 1 : 0));
}
