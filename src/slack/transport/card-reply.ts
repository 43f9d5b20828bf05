import type { AnyBlock } from '@slack/types';
import type { Message } from '../kit/blocks.ts';
import { type CardParts, cardView, readCard } from '../kit/card-view.ts';
import type { Reply, Views } from './request.ts';

/** The modal of a card, as Slack sends it along with a press. */
export interface PressedCard {
  readonly id: string;
  readonly title: string;
  /** Where it was opened, as the card itself carries it. */
  readonly metadata: string;
  readonly blocks: readonly AnyBlock[];
}

/**
 * The ways back to a user who pressed a button of a card in a modal, which covers everything else: what would replace the
 * message of the button replaces the card, and what would be a message of its own stands above it. Once the user has
 * closed the modal, they get messages.
 */
export function replyInCard(card: PressedCard, otherwise: Reply, update: Views['update']): Reply {
  let shown: CardParts = readCard(card.blocks);
  const show = async (parts: CardParts) => {
    shown = parts;
    return (await update(card.id, cardView(card.title, card.metadata, parts))).ok;
  };
  const edit = (message: Message) => show({ ...shown, blocks: message.blocks });
  return {
    ...otherwise,
    send: async (message) => {
      const notices = [...(shown.notices ?? []), ...message.blocks];
      return (await show({ ...shown, notices })) || otherwise.send(message);
    },
    replace: async (message) => (await edit(message)) || otherwise.send(message),
    edit,
    delete: async () => false,
  };
}
