namespace Garnet.Migration;

/// <summary>A server cannot answer for now: it runs a script, loads its data, or waits for its primary. As a lost link for whoever goes on later.</summary>
internal sealed class PassingException(string message) : IOException(message);
