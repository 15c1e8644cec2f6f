/** For `carrel-configure`: writes the MCP servers of the sandbox into the files of agents, before its command starts. */
import { configure } from './configure.ts';
import { mcpList } from './list.ts';

configure(process.env.HOME ?? '/home/agent', mcpList(), (text) => console.error(`carrel: ${text}`));
