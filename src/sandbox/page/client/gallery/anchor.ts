/** The address of a group within the page. */
export function anchorOf(group: string): string {
  return `group-${group.toLowerCase().replaceAll(' ', '-')}`;
}
