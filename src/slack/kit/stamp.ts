import type { HomeView, ModalView } from '@slack/types';
import { z } from 'zod';
import type { WorkspaceId } from '../../domain/ids.ts';

/*
 * Where the app is installed for a whole organization, Slack doesn't say in which of its workspaces a button was pressed or
 * a form was submitted. So the app's own messages and forms carry it: users can't alter what Slack sends back of them. A view
 * that answers a submission keeps the origin of the view before it.
 */

const STAMP = /^w:(T[A-Z0-9]{1,62}):\d+$/;

/** The same blocks, each with the workspace in its ID. */
export function stampBlocks<Blocks>(blocks: Blocks, workspaceId: WorkspaceId): Blocks {
  if (!Array.isArray(blocks)) return blocks;
  const stamped: unknown = blocks.map((block: object, at) => ({
    block_id: `w:${workspaceId}:${at}`,
    ...block,
  }));
  return stamped as Blocks;
}

/** The workspace in a block's ID; undefined where it has none. */
export function readBlockStamp(blockId: string | undefined): WorkspaceId | undefined {
  return STAMP.exec(blockId ?? '')?.[1];
}

const metadata = z.looseObject({ o: z.looseObject({}) });

/** The same view, with the workspace in the origin that its metadata carries. */
export function stampView<View extends ModalView | HomeView>(view: View, workspaceId: WorkspaceId): View {
  const blocks = stampBlocks(view.blocks, workspaceId);
  const written = parseMetadata(view.private_metadata ?? '');
  if (!written) return { ...view, blocks };
  return {
    ...view,
    blocks,
    private_metadata: JSON.stringify({ ...written, o: { ...written.o, workspaceId } }),
  };
}

function parseMetadata(text: string) {
  try {
    return metadata.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // a view without a form: nothing of it is submitted
  }
}
