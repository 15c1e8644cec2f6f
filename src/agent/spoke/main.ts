/** The program at a project that the hub talks to: on stdin and stdout, or with `--connect [FOLDER]` over a connection that it opens. */
import { killLeftovers } from './process-tree.ts';
import { serve } from './serve.ts';

const workspace = '/workspace';
const [option, folder = workspace] = process.argv.slice(2);

if (option === '--connect') {
  const { connect } = await import('./connect.ts');
  await connect(folder, process.env);
}
// Here all processes of the sandbox are those of one project; elsewhere there may be others.
killLeftovers();
await serve(workspace, process.stdin, process.stdout);
killLeftovers();
process.exit(0);
