import type { Context } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { formatSize } from '../../../model/size.ts';
import type { ImageView } from '../api.ts';

export async function imageLs(context: Context): Promise<void> {
  const images = await connect(context).call('GET /v1/images');
  if (context.json) return context.out.document(images);
  if (images.length === 0) return context.out.note('no images; make one with: carrel image build PROJECT');
  context.out.print(...imageListing(images));
}

/** So much of an id is shown. */
const idLength = 'sha256:'.length + 12;

export function imageListing(images: readonly ImageView[], now?: number): string[] {
  const rows = images.map(({ name, source, id, state, sizeBytes, at, project }) => [
    plain(name),
    source,
    id === null ? '-' : plain(id).slice(0, idLength),
    state,
    sizeBytes === null ? '-' : formatSize(sizeBytes),
    at === null ? '-' : age(at, now),
    project === null ? '-' : plain(project),
  ]);
  return table([['NAME', 'SOURCE', 'ID', 'STATE', 'SIZE', 'AGE', 'PROJECT'], ...rows]);
}
