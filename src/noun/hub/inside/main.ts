/**
 * The program at a project that the hub talks to: on stdin and stdout, or with `--connect [FOLDER]` over a connection that it opens. After
 * `--` comes the command of a container: the program starts it and ends with it.
 */
import { killLeftovers } from './command/process-tree.ts';
import { runContainerCommand } from './run-container-command.ts';
import { serve } from './serve.ts';

const workspace = '/workspace';
const args = process.argv.slice(2);
const end = args.indexOf('--');
const [option, folder = workspace] = end < 0 ? args : args.slice(0, end);

if (option === '--connect') {
  const { connect } = await import('./connect.ts');
  if (end >= 0) runContainerCommand(args.slice(end + 1));
  await connect(folder, process.env);
}
// In a sandbox of the hub all processes belong to one project; a program with `--connect` may have neighbours.
killLeftovers();
await serve(workspace, process.stdin, process.stdout);
killLeftovers();
process.exit(0);
