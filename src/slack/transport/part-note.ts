import type { ModalView } from '@slack/types';
import { PART_OF_LIST } from '../../domain/part-of-list.ts';
import type { Message } from '../kit/blocks.ts';
import { partOfList, saysPartOfList, withPartOfList } from '../kit/part-of-list.ts';
import type { PartNote, Reply, Views } from './request.ts';

interface OwnPartNote extends PartNote {
  /** The list is known to be a part: everything shown from here on says so. */
  hear(): void;
  inReply(reply: Reply): Reply;
  inViews(views: Views): Views;
}

/** Adds the note about a partial list to messages and views on their way to Slack, so that no feature can forget it. */
export function createPartNote(): OwnPartNote {
  let isKnown = false;
  let isSaid = false;
  const inView = (view: ModalView) => {
    if (!isKnown) return view;
    isSaid = true;
    return { ...view, blocks: withPartOfList(view.blocks) };
  };
  const inMessage = (message: Message) => {
    if (!isKnown) return message;
    isSaid = true;
    return withNote(message);
  };
  return {
    hear: () => {
      isKnown = true;
    },
    inView,
    inReply: (reply) => ({
      ...reply,
      send: (message) => reply.send(inMessage(message)),
      replace: (message) => reply.replace(inMessage(message)),
      edit: (message) => reply.edit(inMessage(message)),
    }),
    inViews: (views) => ({
      ...views,
      open: (view) => views.open(inView(view)),
      update: (viewId, view) => views.update(viewId, inView(view)),
    }),
    sayUnsaid: async (reply) => {
      if (isKnown && !isSaid) await reply.send({ text: PART_OF_LIST, blocks: [partOfList()] });
    },
  };
}

function withNote({ text, blocks, plainBlocks }: Message): Message {
  return {
    text: saysPartOfList(text) ? text : `${text} ${PART_OF_LIST}`,
    blocks: withPartOfList(blocks),
    plainBlocks: plainBlocks && withPartOfList(plainBlocks),
  };
}
