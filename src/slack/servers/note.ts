import { noteServer } from '../../app/servers/note-server.ts';
import { showServer } from '../../app/servers/show-server.ts';
import { MOST_NOTE_LETTERS } from '../../domain/server-note.ts';
import { defineCommand } from '../kit/command.ts';
import { count } from '../kit/text.ts';
import { findUserId, type TypedWords } from '../kit/typed-words.ts';
import { serverCard } from './server-card.ts';

/** `/vps note web-1 owner=@otto "billing"`: what the team wants to know about a server at 3 a.m. */
export const note = defineCommand({
  name: 'note',
  usage: 'note <server> <text> [owner=@user]',
  summary: 'Note what a server is for and who to ask',
  needs: 'operator',
  options: ['owner'],
  parse: parseNote,
  run: async ({ typed, ...change }, request) => {
    const { id } = await request.execute(noteServer, { ref: { typed }, ...change });
    const card = await request.execute(showServer, { ref: { id } });
    await request.reply.send(serverCard(card, request.now()));
  },
});

function parseNote({ words: [typed, ...rest], options: { owner } }: TypedWords) {
  if (!typed) return 'Name a server first.';
  const words = rest.map(withoutPing).join(' ');
  if (words === '' && owner === undefined) return 'Add some text, or `owner=@user`.';
  if (words.length > MOST_NOTE_LETTERS)
    return `A note can have up to ${count(MOST_NOTE_LETTERS, 'character')}.`;
  const contact = owner === undefined || owner === 'none' ? owner && ('' as const) : findUserId(owner);
  if (owner !== undefined && contact === undefined)
    return 'Mention the owner, as in `owner=@ann`, or write `owner=none`.';
  if (words === 'clear') return { typed, text: '', contact: contact ?? ('' as const) };
  return { typed, contact, text: words === '' ? undefined : words };
}

/** Slack sends `<@U1|ann>` for `@ann`; a note shouldn't notify people each time it is shown. */
function withoutPing(word: string): string {
  return word.replace(/<[@#!][^<|>]*\|([^<>]*)>/g, '@$1');
}
