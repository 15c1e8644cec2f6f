/** The tools that nouns offer to the clients of the hub. */
import type { HubTool } from './hub/app/tool/tool.ts';
import { memoryTools } from './memory/app/tools.ts';
import { roomTools } from './room/app/tools.ts';
import { swarmTools } from './swarm/app/tools.ts';

export const offeredTools: readonly HubTool[] = [...swarmTools, ...roomTools, ...memoryTools];
