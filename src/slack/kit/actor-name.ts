import { findKeyNameOf } from '../../domain/actor.ts';
import { escapeText, mention } from './text.ts';

/** Who did something, at the beginning of a sentence: a user, or a workflow with its workflow key, which can't be mentioned. */
export function nameActor(actorId: string): string {
  const key = findKeyNameOf(actorId);
  return key === undefined ? mention(actorId) : `Workflow key *${escapeText(key)}*`;
}
