import { adapterDataFolder } from '../../agent/model/agent.ts';
import { runAdapter } from './run.ts';

const folders = {
  workspace: '/workspace',
  project: '/.workspace',
  data: `/.data/${adapterDataFolder}`,
  secrets: '/run/secrets',
};

process.exit(await runAdapter(process.argv[2], folders));
