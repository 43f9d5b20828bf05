import {
  findMentionedServers,
  type MentionedServer,
  type MessagePart,
} from '../../domain/mentioned-servers.ts';
import { defineUseCase } from '../authorize/use-case.ts';

/** Finds the servers that a message mentions, of those that the actor's roles cover. It only finds them. */
export const findMentioned = defineUseCase({
  name: 'show',
  needs: 'viewer',
  effect: 'reads',
  run: async (
    { parts }: { readonly parts: readonly MessagePart[] },
    context,
  ): Promise<readonly MentionedServer[]> => {
    const hosting = await context.hosting();
    const { servers } = await hosting.fetchServers();
    const seen = servers.filter(({ label }) => context.covers(label));
    return findMentionedServers(parts, seen);
  },
});
