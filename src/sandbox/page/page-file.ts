/** One file of the page, as the browser gets it. */
export interface PageFile {
  readonly contentType: string;
  readonly body: string;
}
