import type { Piece } from '../../cli/slack-checks.ts';
import { surfaces } from './fixtures/surfaces.ts';
import { isView, versionsOf } from './pieces.ts';

/** Every message and form of the gallery, as `blocks.validate` takes them: a message's text is not among that. */
export function listPieces(): readonly Piece[] {
  return surfaces
    .flatMap(versionsOf)
    .map(({ name, made }) =>
      isView(made)
        ? { name, kind: 'view', content: made }
        : { name, kind: 'message', content: { blocks: made.blocks } },
    );
}
