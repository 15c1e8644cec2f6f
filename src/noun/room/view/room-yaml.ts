/** room.yaml: a view of what the database has about the room. */

import type { Retention } from '../model/room.ts';
import type { RoomAbout } from '../room.ts';
import { yamlList, yamlText } from './message-file.ts';

export function roomYaml(about: RoomAbout, participants: readonly string[], retention: Retention | null): string {
  const lines = [
    `name: ${yamlText(about.name)}`,
    `created_by: ${yamlText(about.createdBy)}`,
    `created_at: ${about.createdAt}`,
    `participants: ${yamlList(participants)}`,
    ...(retention === null ? [] : [`retention: ${retentionText(retention)}`]),
  ];
  return `${lines.join('\n')}\n`;
}

function retentionText({ days, messages }: Retention): string {
  const parts = [days === undefined ? [] : [`days: ${days}`], messages === undefined ? [] : [`messages: ${messages}`]];
  return `{${parts.flat().join(', ')}}`;
}
